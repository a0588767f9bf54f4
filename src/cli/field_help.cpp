#include "cli/field_help.hpp"

#include <fmt/format.h>

#include "view/job/job_columns.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kStates[] = {
    "pending",  "running",       "suspended",    "completed",   "cancelled",
    "failed",   "timeout",       "node_fail",    "preempted",   "boot_fail",
    "deadline", "out_of_memory", "completing",   "configuring", "expediting",
    "resizing", "resv_del_hold", "requeued",     "requeue_fed", "requeue_hold",
    "revoked",  "signaling",     "special_exit", "stage_out",   "stopped",
};

}  // namespace

std::span<const std::string_view> state_names() { return kStates; }

std::string squeue_help_states() {
    std::string text;
    for (const std::string_view name : kStates) text += fmt::format("{}\n", name);
    return text;
}

std::string squeue_help_names() { return in_four_columns(view::job_field_names()); }
std::string squeue_help_letters() { return in_eight_columns(view::kJobHelpLetters); }

std::string in_eight_columns(std::string_view letters) {
    std::string text;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        text += fmt::format("%{}    ", letters[i]);
        if (i % 8 == 7 || i + 1 == letters.size()) text += '\n';
    }
    return text;
}

std::string in_four_columns(std::span<const std::string_view> names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += fmt::format("{:<20}", names[i]);
        if (i % 4 == 3 || i + 1 == names.size()) text += '\n';
    }
    return text;
}

}  // namespace switchyard::cli
