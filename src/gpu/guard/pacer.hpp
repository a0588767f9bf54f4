// pacer.hpp: holds a process to its turns on one card, around the kernels it launches.
//
// Every launch passes before_launch(). While it is this process's turn that costs two loads. At the
// end of a slice that others wait for, the card is drained and the turn handed on. While there are
// others, at most two batches of a few milliseconds are queued ahead, so that draining is quick. A
// thread of its own gives the turn up when the program stops launching.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "gpu/guard/cuda_abi.hpp"
#include "gpu/guard/turns.hpp"

namespace switchyard::guard {

class Pacer {
  public:
    bool open(const char* path, Turns::Share share) { return turns_.open(path, share); }
    bool is_open() const { return turns_.is_open(); }

    void before_launch(Stream stream);
    // While a stream records its launches instead of running them, nothing is drained.
    void capture_begins();
    void capture_ended();
    void stream_is_gone(Stream stream);
    void forget_after_fork();
    // To standard error: how often it had the card and how long it waited.
    void print_count() const;

  private:
    static void* watch(void* self);
    void watch_until_idle();
    void start_watching();
    void pass_gate(Stream stream);
    void limit_run_ahead(Stream stream);
    void drain();
    bool drain_from_here();
    bool make_events();

    Turns turns_;
    pthread_mutex_t gate_ = PTHREAD_MUTEX_INITIALIZER;
    std::atomic<std::uint32_t> launches_ = 0;
    std::atomic<std::uint32_t> watching_ = 0;  // A futex: the thread looks while it is 1.
    std::atomic<bool> company_ = false;
    std::atomic<int> captures_ = 0;
    std::atomic<Stream> last_stream_ = nullptr;
    std::atomic<Context> context_ = nullptr;
    std::atomic<std::uint64_t> drained_ns_ = 0;
    std::atomic<std::uint32_t> run_ahead_waits_ = 0;
    bool thread_started_ = false;

    // Guarded by gate_.
    Event events_[3] = {};  // Two marks in the queue, and one for draining.
    bool has_events_ = false;
    std::atomic<std::uint32_t> since_mark_ = 0, mark_every_ = 1;
    std::uint32_t marks_ = 0;
    std::uint64_t last_mark_ = 0;
};

}  // namespace switchyard::guard
