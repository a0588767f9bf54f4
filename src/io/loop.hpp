// loop.hpp: the one place that waits. An epoll loop with timers, child exits and signals; every
// daemon, stepd and srun runs on one. One thread; only post() may be called from another.
//
// Handles (Watch, Timer) are owned by whoever wants the callback: destroying one cancels it, also
// from inside its own callback.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/time.hpp"

namespace switchyard::io {

class Loop {
  public:
    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    void run();   // Until stop().
    void stop();  // Ends run() after the present callback; from any thread.
    void post(std::function<void()> work);  // From any thread; runs on the loop's own.
    // Runs at the end of this turn, before the loop waits again (and before run() returns). For
    // work that is cheaper done once for many events: writing out what was queued, committing a
    // batch.
    void defer(std::function<void()> work);

    class Watch {
      public:
        Watch();
        ~Watch();
        Watch(Watch&&) noexcept;
        Watch& operator=(Watch&&) noexcept;
        void set_events(std::uint32_t epoll_events);  // EPOLLIN | EPOLLOUT; 0 pauses.
        explicit operator bool() const;

      private:
        friend class Loop;
        struct State;
        std::shared_ptr<State> state_;  // Shared with the loop while an event is being delivered.
    };
    // Calls back with the epoll events of `fd`. The caller keeps owning the descriptor and destroys
    // the Watch before closing it. What epoll does not know (a regular file, /dev/null) counts as
    // always ready.
    [[nodiscard]] Watch watch(int fd, std::uint32_t epoll_events,
                              std::function<void(std::uint32_t)> ready);

    class Timer {
      public:
        Timer();
        ~Timer();
        Timer(Timer&&) noexcept;
        Timer& operator=(Timer&&) noexcept;
        explicit operator bool() const;  // Armed and not yet fired.

      private:
        friend class Loop;
        struct State;
        std::shared_ptr<State> state_;
    };
    [[nodiscard]] Timer after(Millis delay, std::function<void()> work);  // Monotonic clock.
    [[nodiscard]] Timer at(Instant instant, std::function<void()> work);  // Wall clock.

    // Blocks `signal` for the calling thread, and so for threads and children it starts later, and
    // delivers it here. Destroying the Watch leaves it blocked.
    [[nodiscard]] Watch on_signal(int signal, std::function<void()> work);

    // The wall clock, read once per turn of the loop: it stands still while callbacks run.
    Instant now() const;

  private:
    class Core;
    std::shared_ptr<Core> core_;  // Shared with the handles, which may outlive the loop.
};

}  // namespace switchyard::io
