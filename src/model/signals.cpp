#include "model/signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

struct Name {
    std::string_view name;
    int signal;
};

// The first name of a number is the one that is printed.
constexpr std::array<Name, 34> kNames{{
    {"HUP", SIGHUP},       {"INT", SIGINT},     {"QUIT", SIGQUIT}, {"ILL", SIGILL},
    {"TRAP", SIGTRAP},     {"ABRT", SIGABRT},   {"IOT", SIGIOT},   {"BUS", SIGBUS},
    {"FPE", SIGFPE},       {"KILL", SIGKILL},   {"USR1", SIGUSR1}, {"SEGV", SIGSEGV},
    {"USR2", SIGUSR2},     {"PIPE", SIGPIPE},   {"ALRM", SIGALRM}, {"TERM", SIGTERM},
    {"STKFLT", SIGSTKFLT}, {"CHLD", SIGCHLD},   {"CLD", SIGCHLD},  {"CONT", SIGCONT},
    {"STOP", SIGSTOP},     {"TSTP", SIGTSTP},   {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},
    {"URG", SIGURG},       {"XCPU", SIGXCPU},   {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM},
    {"PROF", SIGPROF},     {"WINCH", SIGWINCH}, {"IO", SIGIO},     {"POLL", SIGPOLL},
    {"PWR", SIGPWR},       {"SYS", SIGSYS},
}};

constexpr int kSignalMax = 64;
constexpr int kRealTimeMin = 34;  // What programs can use; two below belong to the C library.
constexpr std::uint64_t kBeforeMax = 65'535;

}  // namespace

Result<int> parse_signal(std::string_view text) {
    const auto invalid = [&] {
        return fail(Errc::InvalidArgument, fmt::format("Invalid signal: {}", text));
    };
    if (const auto number = parse_uint(text)) {
        if (*number == 0 || *number > kSignalMax) return invalid();
        return static_cast<int>(*number);
    }
    std::string_view name = text;
    if (starts_with_ignoring_case(name, "SIG")) name.remove_prefix(3);
    const auto found = std::ranges::find_if(
        kNames, [&](const Name& known) { return equals_ignoring_case(known.name, name); });
    if (found == kNames.end()) return invalid();
    return found->signal;
}

std::string signal_name(int signal) {
    const auto found = std::ranges::find(kNames, signal, &Name::signal);
    return found != kNames.end() ? std::string(found->name) : fmt::to_string(signal);
}

std::string signal_description(int signal) {
    if (const char* words = ::sigdescr_np(signal)) return words;
    if (signal >= kRealTimeMin && signal <= kSignalMax) {
        return fmt::format("Real-time signal {}", signal - kRealTimeMin);
    }
    return fmt::format("Unknown signal {}", signal);
}

Result<WarnSignal> parse_warn_signal(std::string_view text) {
    const auto invalid = [&] {
        return fail(Errc::InvalidArgument, fmt::format("Invalid signal specification: {}", text));
    };
    WarnSignal warn;
    std::string_view rest = text;
    if (const std::size_t colon = rest.find(':'); colon != std::string_view::npos) {
        if (colon == 0) return invalid();
        for (const char flag : to_lower(rest.substr(0, colon))) {
            if (flag != 'b' && flag != 'r') return invalid();
            (flag == 'b' ? warn.batch_only : warn.for_reservation) = true;
        }
        rest.remove_prefix(colon + 1);
    }
    if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
        const auto seconds = parse_uint(rest.substr(at + 1));
        if (!seconds || *seconds > kBeforeMax) return invalid();
        warn.before = Seconds{static_cast<std::int64_t>(*seconds)};
        rest = rest.substr(0, at);
    }
    const auto signal = parse_signal(rest);
    if (!signal) return invalid();
    warn.signal = *signal;
    return warn;
}

std::string to_string(const WarnSignal& signal) {
    if (signal.signal == 0) return {};
    std::string flags;
    if (signal.for_reservation) flags += 'R';
    if (signal.batch_only) flags += 'B';
    if (!flags.empty()) flags += ':';
    return fmt::format("{}{}@{}", flags, signal_name(signal.signal), signal.before.count());
}

}  // namespace switchyard::model
