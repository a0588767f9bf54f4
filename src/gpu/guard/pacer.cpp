#include "gpu/guard/pacer.hpp"

#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpu/guard/driver.hpp"
#include "gpu/guard/old_glibc.hpp"
#include "gpu/guard/shared_file.hpp"

namespace switchyard::guard {
namespace {

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint32_t kClockEvery = 8;  // Launches between looks at the clock when alone.
constexpr std::uint32_t kMarkEveryMax = 256;
constexpr std::uint64_t kGrace = 2 * kMs;
constexpr std::uint64_t kBatchShort = 1 * kMs, kBatchLong = 3 * kMs;

void pause_us(long us) {
    const timespec time{0, us * 1'000};
    nanosleep(&time, nullptr);
}

// Our own waiting must not count as a forbidden call while another thread captures a stream.
class RelaxedCapture {
  public:
    RelaxedCapture() { exchange(); }
    ~RelaxedCapture() { exchange(); }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    void exchange() {
        const auto call = SY_DRIVER("cuThreadExchangeStreamCaptureMode", Result(*)(int*));
        if (call != nullptr) call(&mode_);
    }
    int mode_ = kCaptureRelaxed;
};

}  // namespace

void Pacer::before_launch(Stream stream) {
    const std::uint32_t count = launches_.fetch_add(1, std::memory_order_relaxed);
    last_stream_.store(stream, std::memory_order_relaxed);
    const bool company = company_.load(std::memory_order_relaxed);
    if (turns_.is_mine()) {
        const bool look = company || count % kClockEvery == 0;
        if (look && now_ns() >= turns_.slice_ends()) pass_gate(stream);
        if (company) limit_run_ahead(stream);
        return;
    }
    pass_gate(stream);
}

void Pacer::pass_gate(Stream stream) {
    if (captures_ > 0) return;
    pthread_mutex_lock(&gate_);
    if (captures_ == 0) {
        const auto current = SY_DRIVER("cuCtxGetCurrent", Result(*)(Context*));
        Context context = nullptr;
        if (current != nullptr && current(&context) == kCudaSuccess) context_ = context;
        last_stream_ = stream;
        if (turns_.is_mine() && now_ns() >= turns_.slice_ends() && !turns_.may_go_on()) {
            drain();
            turns_.give_up();
        }
        if (!turns_.is_mine()) {
            turns_.wait_for_turn();
            start_watching();
        }
        company_ = turns_.has_company();
    }
    pthread_mutex_unlock(&gate_);
}

bool Pacer::make_events() {
    if (has_events_) return true;
    const auto create = SY_DRIVER("cuEventCreate", Result(*)(Event*, unsigned));
    if (create == nullptr) return false;
    for (Event& event : events_) {
        // Waiting for such an event sleeps; it does not burn one of the job's cores.
        if (create(&event, kEventBlockingSync | kEventDisableTiming) != kCudaSuccess) return false;
    }
    has_events_ = true;
    return true;
}

// Waits until the card has done all this process gave it.
void Pacer::drain() {
    const RelaxedCapture relaxed;
    const std::uint64_t began = now_ns();
    const auto record = SY_DRIVER("cuEventRecord", Result(*)(Event, Stream));
    const auto wait = SY_DRIVER("cuEventSynchronize", Result(*)(Event));
    const auto synchronize = SY_DRIVER("cuCtxSynchronize", Result(*)());
    if (record != nullptr && wait != nullptr && make_events() &&
        record(events_[2], last_stream_) == kCudaSuccess) {
        wait(events_[2]);
    }
    // What other streams still have; as a rule nothing.
    if (synchronize != nullptr) synchronize();
    drained_ns_ += now_ns() - began;
}

void Pacer::print_count() const {
    const Turns::Count count = turns_.count();
    fprintf(
        stderr,
        "switchyard guard: %u launches, %llu turns, had the card %.3f s, waited %.3f s, drained "
        "%.3f s, %u waits to stay close\n",
        launches_.load(), static_cast<unsigned long long>(count.turns),
        static_cast<double>(count.held_ns) / 1e9, static_cast<double>(count.waited_ns) / 1e9,
        static_cast<double>(drained_ns_) / 1e9, run_ahead_waits_.load());
}

void Pacer::limit_run_ahead(Stream stream) {
    if (since_mark_.fetch_add(1) + 1 < mark_every_) return;
    if (pthread_mutex_trylock(&gate_) != 0) return;
    const auto record = SY_DRIVER("cuEventRecord", Result(*)(Event, Stream));
    const auto wait = SY_DRIVER("cuEventSynchronize", Result(*)(Event));
    if (captures_ == 0 && record != nullptr && wait != nullptr && make_events()) {
        since_mark_ = 0;
        const RelaxedCapture relaxed;
        const unsigned at = marks_ % 2;
        if (record(events_[at], stream) == kCudaSuccess && marks_++ > 0) {
            wait(events_[1 - at]);
            ++run_ahead_waits_;
        }
        const std::uint64_t now = now_ns();
        const std::uint64_t batch = now - last_mark_;
        const std::uint32_t every = mark_every_;
        if (batch < kBatchShort && every < kMarkEveryMax) mark_every_ = every * 2;
        if (batch > kBatchLong && every > 1) mark_every_ = every / 2;
        last_mark_ = now;
    }
    pthread_mutex_unlock(&gate_);
}

void Pacer::capture_begins() {
    pthread_mutex_lock(&gate_);
    captures_.fetch_add(1);
    pthread_mutex_unlock(&gate_);
}

void Pacer::capture_ended() {
    int captures = captures_;
    while (captures > 0 && !captures_.compare_exchange_weak(captures, captures - 1)) {
    }
}

void Pacer::stream_is_gone(Stream stream) {
    pthread_mutex_lock(&gate_);
    if (last_stream_ == stream) last_stream_ = nullptr;
    pthread_mutex_unlock(&gate_);
}

void Pacer::forget_after_fork() {
    turns_.forget_place();
    pthread_mutex_init(&gate_, nullptr);
    thread_started_ = false;
    has_events_ = false;
    watching_ = 0;
}

void Pacer::start_watching() {
    watching_ = 1;
    if (!thread_started_) {
        pthread_t thread;
        sigset_t all, before;
        // Signals are for the program's own threads.
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        thread_started_ = pthread_create(&thread, nullptr, watch, this) == 0;
        if (thread_started_) pthread_detach(thread);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return;
    }
    syscall(SYS_futex, &watching_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void* Pacer::watch(void* self) {
    auto* pacer = static_cast<Pacer*>(self);
    for (;;) {
        syscall(SYS_futex, &pacer->watching_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
        pacer->watch_until_idle();
    }
    return nullptr;
}

// Gives the turn up when others want the card and the program launches nothing. A program that
// waits for its results will as a rule go on in a moment: if the card is still due to it, it gets
// that moment, else its share would go to whoever happens to wait.
void Pacer::watch_until_idle() {
    std::uint32_t seen = launches_;
    std::uint64_t idle_since = 0;  // The card has nothing of ours since then.
    while (turns_.is_mine()) {
        pause_us(!company_ ? 4000 : idle_since == 0 ? 1000 : 250);
        company_ = turns_.has_company();
        const std::uint32_t count = launches_;
        if (count != seen || !company_ || captures_ > 0) {
            seen = count;
            idle_since = 0;
            continue;
        }
        if (idle_since == 0) {
            if (!drain_from_here()) continue;
            idle_since = now_ns();
        }
        if (pthread_mutex_trylock(&gate_) != 0) continue;
        const bool waited = now_ns() - idle_since > kGrace;
        const bool idle = turns_.is_mine() && launches_ == count && captures_ == 0;
        if (idle && (waited || !turns_.has_claim())) turns_.give_up();
        pthread_mutex_unlock(&gate_);
    }
    watching_ = 0;
    // A turn taken just now has set it to 1 before, and is not to be missed.
    if (turns_.is_mine()) watching_ = 1;
}

// False: not now, because a thread of the program is at the gate.
bool Pacer::drain_from_here() {
    const auto push = SY_DRIVER("cuCtxPushCurrent_v2", Result(*)(Context));
    const auto pop = SY_DRIVER("cuCtxPopCurrent_v2", Result(*)(Context*));
    if (push == nullptr || pop == nullptr || pthread_mutex_trylock(&gate_) != 0) return false;
    const bool can = captures_ == 0 && turns_.is_mine() && push(context_) == kCudaSuccess;
    if (can) {
        Context ours = nullptr;
        drain();
        pop(&ours);
    }
    pthread_mutex_unlock(&gate_);
    return can;
}

}  // namespace switchyard::guard
