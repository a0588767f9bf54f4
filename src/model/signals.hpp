// signals.hpp: names and numbers of signals, and the --signal option.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace switchyard::model {

// "TERM", "SIGTERM", "term", "15". Unknown names and 0 or less: InvalidArgument.
Result<int> parse_signal(std::string_view text);
std::string signal_name(int signal);  // "TERM"; "64" where there is no name.
std::string signal_description(
    int signal);  // strsignal's words, as srun prints: "Terminated", "Killed".

// --signal=[{R|B}:]<sig>[@<seconds>]: sent `before` the end of the time limit.
struct WarnSignal {
    int signal = 0;  // 0: none.
    Seconds before{60};
    bool batch_only = false;       // B: to the batch shell, else to the steps.
    bool for_reservation = false;  // R: also when a reservation is about to overlap.
    bool operator==(const WarnSignal&) const = default;
};
Result<WarnSignal> parse_warn_signal(std::string_view text);
std::string to_string(const WarnSignal& signal);  // "B:USR2@30"

}  // namespace switchyard::model
