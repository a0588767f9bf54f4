#include "controller/turn/what_now.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string_view>
#include <variant>

#include "controller/quiet_thread.hpp"

namespace switchyard::controller {
namespace {

constexpr std::chrono::seconds kLook{1};
constexpr int kLooksUntilTold = 10;
constexpr std::size_t kStackBytes = 64u << 10;

// "switchyard::core::event::Submit", out of how the compiler calls this function.
template <class T>
constexpr auto make_name() {
    constexpr std::string_view kWhole = __PRETTY_FUNCTION__;
    constexpr std::size_t kFrom = kWhole.rfind("::") + 2;
    constexpr std::size_t kSize = kWhole.find_first_of("];", kFrom) - kFrom;
    std::array<char, kSize + 1> name{};
    for (std::size_t i = 0; i < kSize; ++i) name[i] = kWhole[kFrom + i];
    return name;
}
template <class T>
constexpr auto kName = make_name<T>();

template <class T>
JobId job_of(const T& event) {
    if constexpr (requires { JobId{event.job}; }) {
        return event.job;
    } else if constexpr (requires { JobId{event.key.job}; }) {
        return event.key.job;
    } else if constexpr (requires { JobId{event.report.key.job}; }) {
        return event.report.key.job;
    } else {
        return {};
    }
}

// Only what may be done in the handler of a signal.
class SafeText {
  public:
    SafeText& add(const char* text) {
        for (; *text != '\0' && size_ < sizeof text_; ++text) text_[size_++] = *text;
        return *this;
    }
    SafeText& add(std::uint32_t number) {
        char digits[11] = {};
        char* at = digits + sizeof digits - 1;
        do *--at = static_cast<char>('0' + number % 10);
        while ((number /= 10) != 0);
        return add(at);
    }
    void write() const {
        [[maybe_unused]] const ssize_t sent = ::write(STDERR_FILENO, text_, size_);
    }

  private:
    char text_[512];
    std::size_t size_ = 0;
};

void add_glimpse(const WhatNow::Glimpse& glimpse, SafeText& to) {
    to.add(glimpse.what != nullptr ? glimpse.what : "nothing in particular");
    if (glimpse.job == 0) return;
    to.add(" of job ").add(glimpse.job);
    to.add(" (if this comes back at every start, `slurmctld --quarantine ").add(glimpse.job);
    to.add("` sets that job aside)");
}

// A handler of a signal has no other way to know it.
std::atomic<const WhatNow*> told_of{nullptr};

void on_crash(int signal) {
    if (const WhatNow* now = told_of.load()) {
        SafeText text;
        text.add("slurmctld: fatal: signal ").add(static_cast<std::uint32_t>(signal)).add(" at ");
        add_glimpse(now->glimpse(), text);
        text.add("\n").write();
    }
    ::signal(signal, SIG_DFL);
    ::raise(signal);
}

}  // namespace

EventNote note_of(const core::Event& event) {
    return std::visit(
        [](const auto& each) -> EventNote {
            using Each = std::remove_cvref_t<decltype(each)>;
            return {kName<Each>.data(), job_of(each)};
        },
        event);
}

void tell_of_crashes(const WhatNow& now) {
    told_of = &now;
    // A stack of its own: the other one may be what is used up.
    static char stack[kStackBytes];
    const stack_t own{.ss_sp = stack, .ss_flags = 0, .ss_size = sizeof stack};
    ::sigaltstack(&own, nullptr);
    struct sigaction action{};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK;
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
        ::sigaction(signal, &action, nullptr);
}

Watchdog::Watchdog(const WhatNow& now)
    : now_(now), thread_(start_quiet_thread([this] { run(); })) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

void Watchdog::run() {
    std::uint64_t turn = 0;
    int looks = 0;
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kLook, [this] { return stopping_; })) {
        const WhatNow::Glimpse glimpse = now_.glimpse();
        looks = glimpse.what != nullptr && glimpse.turn == turn ? looks + 1 : 0;
        turn = glimpse.turn;
        if (looks == 0 || looks % kLooksUntilTold != 0) continue;
        SafeText text;
        text.add("slurmctld: error: busy for ").add(static_cast<std::uint32_t>(looks));
        text.add(" seconds with ");
        add_glimpse(glimpse, text);
        text.add("\n").write();
    }
}

}  // namespace switchyard::controller
