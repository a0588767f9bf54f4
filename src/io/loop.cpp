// loop.cpp: epoll, two heaps of timers, and a list of work from other threads.
//
// A turn is: deferred work, wait, events, timers, posted work. A handle that is destroyed while
// events are being delivered leaves its state in `graveyard_` until the batch is through, since
// later events of the same batch may still point to it; so delivering an event costs no counting of
// references.
#include "io/loop.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <mutex>
#include <vector>

#include "base/assert.hpp"
#include "io/fd.hpp"
#include "io/timer_heap.hpp"

namespace switchyard::io {
namespace {

constexpr int kEventsPerTurnMax = 512;
constexpr int kDeferredRoundsMax = 4;
constexpr std::int64_t kNanosPerMilli = 1'000'000;

std::int64_t clock_ns(clockid_t clock) {
    timespec t{};
    ::clock_gettime(clock, &t);
    return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

struct Loop::Watch::State {
    std::shared_ptr<Core> core;
    int fd = -1;
    std::uint32_t events = 0;
    bool registered = false;    // With epoll.
    bool always_ready = false;  // Epoll refused it: a file.
    bool dead = false;
    std::function<void(std::uint32_t)> ready;
    Fd owned;  // The signalfd of on_signal.
};

struct Loop::Timer::State : TimerNode {
    std::shared_ptr<Core> core;
    bool wall = false;
    std::function<void()> work;
};

class Loop::Core {
  public:
    Core()
        : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        SY_ASSERT(epoll_.get() >= 0);
        SY_ASSERT(wake_.get() >= 0);
        add_internal(wake_.get(), &wake_);
    }

    void run();
    void stop() {
        stopped_.store(true, std::memory_order_release);
        wake();
    }
    void post(std::function<void()> work) {
        bool first = false;
        {
            const std::lock_guard lock(posted_mutex_);
            first = posted_.empty();
            posted_.push_back(std::move(work));
        }
        if (first) wake();
    }
    void defer(std::function<void()> work) { deferred_.push_back(std::move(work)); }

    void set_events(Watch::State& state, std::uint32_t events);
    void retire(std::shared_ptr<Watch::State> state);
    void arm(Timer::State& timer);
    void disarm(Timer::State& timer) {
        if (timer.place != TimerNode::kNowhere) heap_of(timer).remove(timer);
    }
    Instant now() const {
        const std::int64_t ns = running_ ? wall_now_ : clock_ns(CLOCK_REALTIME);
        return Instant{Millis{ns / kNanosPerMilli}};
    }
    void bury_all() {
        while (!graveyard_.empty()) std::exchange(graveyard_, {}).clear();
    }

  private:
    TimerHeap& heap_of(const Timer::State& timer) { return timer.wall ? wall_ : steady_; }
    bool stopped() const { return stopped_.load(std::memory_order_acquire); }
    void wake() const {
        const std::uint64_t one = 1;
        // It can only fail when the counter is full, and then the loop is awake anyway.
        [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
    }
    void add_internal(int fd, void* tag) const {
        epoll_event event{.events = EPOLLIN, .data = {.ptr = tag}};
        SY_ASSERT(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0);
    }
    void watch_clock_steps();
    void read_clocks() {
        steady_now_ = clock_ns(CLOCK_MONOTONIC);
        wall_now_ = clock_ns(CLOCK_REALTIME);
    }

    int timeout_ms() const;
    void turn();
    void deliver(const epoll_event& event);
    void deliver_always_ready();
    TimerHeap* most_overdue();
    void fire_timers();
    void run_posted();
    void run_deferred();

    Fd epoll_, wake_, clock_step_;
    std::atomic<bool> stopped_ = false;
    bool running_ = false;
    bool delivering_ = false;
    std::int64_t steady_now_ = 0, wall_now_ = 0;
    std::uint64_t sequence_ = 0;
    TimerHeap steady_, wall_;
    std::vector<Watch::State*> always_ready_;
    std::vector<std::shared_ptr<Watch::State>> graveyard_;
    std::vector<std::function<void()>> deferred_;

    std::mutex posted_mutex_;
    std::vector<std::function<void()>> posted_;  // Guarded by posted_mutex_.
};

void Loop::Core::run() {
    running_ = true;
    read_clocks();
    while (!stopped()) turn();
    run_deferred();
    running_ = false;
    stopped_.store(false, std::memory_order_release);
}

void Loop::Core::turn() {
    run_deferred();
    if (stopped()) return;
    epoll_event events[kEventsPerTurnMax];
    const int count = ::epoll_wait(epoll_.get(), events, kEventsPerTurnMax, timeout_ms());
    SY_ASSERT(count >= 0 || errno == EINTR);
    read_clocks();

    delivering_ = true;
    bool posted = false;
    for (int i = 0; i < count && !stopped(); ++i) {
        posted |= events[i].data.ptr == &wake_;
        deliver(events[i]);
    }
    deliver_always_ready();
    delivering_ = false;
    bury_all();

    fire_timers();
    if (posted) run_posted();
}

void Loop::Core::deliver(const epoll_event& event) {
    if (event.data.ptr == &wake_) {
        std::uint64_t count = 0;
        [[maybe_unused]] const auto got = ::read(wake_.get(), &count, sizeof count);
        return;
    }
    if (event.data.ptr == &clock_step_) {
        watch_clock_steps();
        return;
    }
    auto* const state = static_cast<Watch::State*>(event.data.ptr);
    // Paused or destroyed by an earlier callback of this batch.
    if (state->dead || state->events == 0) return;
    state->ready(event.events);
}

void Loop::Core::deliver_always_ready() {
    // A callback may destroy its watch, which takes it out of the list; hence the copy.
    if (always_ready_.empty()) return;
    const std::vector<Watch::State*> ready = always_ready_;
    for (Watch::State* state : ready) {
        if (stopped()) return;
        if (!state->dead && state->events != 0) state->ready(state->events);
    }
}

int Loop::Core::timeout_ms() const {
    if (!deferred_.empty() || !always_ready_.empty()) return 0;
    std::int64_t wait = std::numeric_limits<std::int64_t>::max();
    if (!steady_.empty()) wait = steady_.top().due - clock_ns(CLOCK_MONOTONIC);
    if (!wall_.empty()) wait = std::min(wait, wall_.top().due - clock_ns(CLOCK_REALTIME));
    if (wait == std::numeric_limits<std::int64_t>::max()) return -1;
    if (wait <= 0) return 0;
    // Rounded up: a timer that is due in half a millisecond must not make the loop spin.
    const std::int64_t ms = (wait + kNanosPerMilli - 1) / kNanosPerMilli;
    return static_cast<int>(std::min<std::int64_t>(ms, std::numeric_limits<int>::max()));
}

// Of the two clocks' timers that are due, the one that is further behind its time goes first: a
// loop that was held up still fires them in the order in which they were meant.
TimerHeap* Loop::Core::most_overdue() {
    const std::int64_t steady_late = steady_.empty() ? -1 : steady_now_ - steady_.top().due;
    const std::int64_t wall_late = wall_.empty() ? -1 : wall_now_ - wall_.top().due;
    if (steady_late < 0 && wall_late < 0) return nullptr;
    return steady_late >= wall_late ? &steady_ : &wall_;
}

void Loop::Core::fire_timers() {
    while (!stopped()) {
        TimerHeap* const heap = most_overdue();
        if (heap == nullptr) return;
        auto& timer = static_cast<Timer::State&>(heap->top());
        heap->remove(timer);
        // Taken out first: the callback may destroy the timer.
        const std::function<void()> work = std::move(timer.work);
        work();
    }
}

void Loop::Core::run_posted() {
    std::vector<std::function<void()>> work;
    {
        const std::lock_guard lock(posted_mutex_);
        work.swap(posted_);
    }
    for (std::size_t i = 0; i < work.size(); ++i) {
        if (stopped()) {
            // Kept for the next run(), before what came meanwhile.
            const std::lock_guard lock(posted_mutex_);
            posted_.insert(posted_.begin(),
                           std::make_move_iterator(work.begin() + static_cast<std::ptrdiff_t>(i)),
                           std::make_move_iterator(work.end()));
            wake();
            return;
        }
        work[i]();
    }
}

// What deferred work defers belongs to the same turn: a batch is sealed, its commit answers, the
// answer is written. Not for ever: whoever defers again and again must not keep others waiting.
void Loop::Core::run_deferred() {
    std::vector<std::function<void()>> work;
    for (int round = 0; round < kDeferredRoundsMax && !deferred_.empty(); ++round) {
        work.swap(deferred_);
        for (const auto& each : work) each();
        work.clear();
    }
    if (deferred_.empty()) deferred_.swap(work);  // Keeps the capacity.
}

void Loop::Core::set_events(Watch::State& state, std::uint32_t events) {
    if (events == state.events) return;
    state.events = events;
    if (state.always_ready) return;
    // Errors and hang-ups are reported whatever the mask says, so a paused descriptor has to leave
    // epoll.
    if (events == 0) {
        if (std::exchange(state.registered, false)) {
            ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, state.fd, nullptr);
        }
        return;
    }
    epoll_event event{.events = events, .data = {.ptr = &state}};
    const int operation = state.registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (::epoll_ctl(epoll_.get(), operation, state.fd, &event) == 0) {
        state.registered = true;
        return;
    }
    SY_ASSERT(errno == EPERM);
    state.always_ready = true;
    always_ready_.push_back(&state);
}

void Loop::Core::retire(std::shared_ptr<Watch::State> state) {
    state->dead = true;
    if (state->always_ready) std::erase(always_ready_, state.get());
    if (state->registered) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, state->fd, nullptr);
    if (delivering_) graveyard_.push_back(std::move(state));
}

void Loop::Core::arm(Timer::State& timer) {
    timer.sequence = ++sequence_;
    if (timer.wall && !clock_step_) watch_clock_steps();
    heap_of(timer).insert(timer);
}

// A timerfd that never comes due but is cancelled when somebody sets the clock: the loop then wakes
// and looks at its wall timers again.
void Loop::Core::watch_clock_steps() {
    if (!clock_step_) {
        clock_step_.reset(::timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK));
        SY_ASSERT(clock_step_.get() >= 0);
        add_internal(clock_step_.get(), &clock_step_);
    }
    std::uint64_t expired = 0;
    [[maybe_unused]] const auto got = ::read(clock_step_.get(), &expired, sizeof expired);
    itimerspec never{};
    never.it_value.tv_sec = std::numeric_limits<std::int32_t>::max() * std::int64_t{16};
    ::timerfd_settime(clock_step_.get(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
                      nullptr);
}

Loop::Loop() : core_(std::make_shared<Core>()) {}
Loop::~Loop() { core_->bury_all(); }
void Loop::run() { core_->run(); }
void Loop::stop() { core_->stop(); }
void Loop::post(std::function<void()> work) { core_->post(std::move(work)); }
void Loop::defer(std::function<void()> work) { core_->defer(std::move(work)); }
Instant Loop::now() const { return core_->now(); }

Loop::Watch::Watch() = default;
Loop::Watch::~Watch() {
    if (!state_) return;
    Core& core = *state_->core;
    const std::shared_ptr<Core> keep = state_->core;
    core.retire(std::move(state_));
}
Loop::Watch::Watch(Watch&& other) noexcept = default;
Loop::Watch& Loop::Watch::operator=(Watch&& other) noexcept {
    std::swap(state_, other.state_);
    if (this != &other) Watch(std::move(other));  // Destroys what was here.
    return *this;
}
void Loop::Watch::set_events(std::uint32_t epoll_events) {
    SY_ASSERT(state_ != nullptr);
    state_->core->set_events(*state_, epoll_events);
}
Loop::Watch::operator bool() const { return state_ != nullptr; }

Loop::Watch Loop::watch(int fd, std::uint32_t epoll_events,
                        std::function<void(std::uint32_t)> ready) {
    Watch watch;
    watch.state_ = std::make_shared<Watch::State>();
    watch.state_->core = core_;
    watch.state_->fd = fd;
    watch.state_->ready = std::move(ready);
    core_->set_events(*watch.state_, epoll_events);
    return watch;
}

Loop::Timer::Timer() = default;
Loop::Timer::~Timer() {
    if (state_) state_->core->disarm(*state_);
}
Loop::Timer::Timer(Timer&& other) noexcept = default;
Loop::Timer& Loop::Timer::operator=(Timer&& other) noexcept {
    std::swap(state_, other.state_);
    if (this != &other) Timer(std::move(other));
    return *this;
}
Loop::Timer::operator bool() const { return state_ && state_->place != TimerNode::kNowhere; }

Loop::Timer Loop::after(Millis delay, std::function<void()> work) {
    // Far enough for anything, and no overflow below.
    const Millis bounded = std::clamp(delay, Millis{0}, Millis{std::chrono::days{36500}});
    Timer timer;
    timer.state_ = std::make_shared<Timer::State>();
    timer.state_->core = core_;
    timer.state_->due = clock_ns(CLOCK_MONOTONIC) + bounded.count() * kNanosPerMilli;
    timer.state_->work = std::move(work);
    core_->arm(*timer.state_);
    return timer;
}

Loop::Timer Loop::at(Instant instant, std::function<void()> work) {
    const Millis since_epoch =
        std::clamp(instant.time_since_epoch(), Millis{0}, Millis{std::chrono::days{73000}});
    Timer timer;
    timer.state_ = std::make_shared<Timer::State>();
    timer.state_->core = core_;
    timer.state_->wall = true;
    timer.state_->due = since_epoch.count() * kNanosPerMilli;
    timer.state_->work = std::move(work);
    core_->arm(*timer.state_);
    return timer;
}

Loop::Watch Loop::on_signal(int signal, std::function<void()> work) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    Fd fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    SY_ASSERT(fd.get() >= 0);
    const int raw = fd.get();
    Watch watch = this->watch(raw, EPOLLIN, [raw, work = std::move(work)](std::uint32_t) {
        signalfd_siginfo info{};
        while (::read(raw, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
        }
        work();
    });
    watch.state_->owned = std::move(fd);
    return watch;
}

}  // namespace switchyard::io
