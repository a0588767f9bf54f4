// what_now.hpp: what the owner's thread is at, for those who look from outside: the handler of a
// crash and the watchdog. They say it on standard error, with the job that it is about and how that
// is set aside: a record that makes the controller loop or crash must not do so for ever.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/ids.hpp"
#include "core/cluster/event.hpp"

namespace switchyard::controller {

class WhatNow {
  public:
    // While it lives that is what is being done. The text must live for ever.
    class At {
      public:
        At(WhatNow& now, const char* what, JobId job = {}) : now_(now) { now_.set(what, job); }
        ~At() { now_.what_.store(nullptr, std::memory_order_relaxed); }
        At(const At&) = delete;
        At& operator=(const At&) = delete;

      private:
        WhatNow& now_;
    };
    void set(const char* what, JobId job) {
        job_.store(job.value, std::memory_order_relaxed);
        turn_.fetch_add(1, std::memory_order_relaxed);
        what_.store(what, std::memory_order_relaxed);
    }

    struct Glimpse {
        const char* what = nullptr;  // None: nothing is being done.
        std::uint32_t job = 0;       // 0: of none in particular.
        std::uint64_t turn = 0;      // Another one for each thing that is done.
    };
    Glimpse glimpse() const {
        return {what_.load(std::memory_order_relaxed), job_.load(std::memory_order_relaxed),
                turn_.load(std::memory_order_relaxed)};
    }

  private:
    std::atomic<const char*> what_{nullptr};
    std::atomic<std::uint32_t> job_{0};
    std::atomic<std::uint64_t> turn_{0};
};

// An event as it is called in the source, and the job that it names.
struct EventNote {
    const char* what;
    JobId job;
};
EventNote note_of(const core::Event& event);

// From now on a crash of this process is told. For one WhatNow, which outlives the process.
void tell_of_crashes(const WhatNow& now);

// Says so when the same thing takes very long.
class Watchdog {
  public:
    explicit Watchdog(const WhatNow& now);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

  private:
    void run();

    const WhatNow& now_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace switchyard::controller
