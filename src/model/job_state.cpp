#include "model/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

struct Names {
    std::string_view longer;
    std::string_view shorter;
};

// By the number of the state.
constexpr std::array<Names, 24> kNames{{
    {"PENDING", "PD"},      {"RUNNING", "R"},      {"SUSPENDED", "S"},    {"COMPLETED", "CD"},
    {"CANCELLED", "CA"},    {"FAILED", "F"},       {"TIMEOUT", "TO"},     {"NODE_FAIL", "NF"},
    {"PREEMPTED", "PR"},    {"BOOT_FAIL", "BF"},   {"DEADLINE", "DL"},    {"OUT_OF_MEMORY", "OOM"},
    {"COMPLETING", "CG"},   {"CONFIGURING", "CF"}, {"REQUEUED", "RQ"},    {"REQUEUE_HOLD", "RH"},
    {"SPECIAL_EXIT", "SE"}, {"REVOKED", "RV"},     {"RESIZING", "RS"},    {"SIGNALING", "SI"},
    {"STAGE_OUT", "SO"},    {"STOPPED", "ST"},     {"REQUEUE_FED", "RF"}, {"RESV_DEL_HOLD", "RD"},
}};
static_assert(kNames.size() == static_cast<std::size_t>(JobState::ResvDelHold) + 1);

const Names& names_of(JobState state) {
    const auto at = static_cast<std::size_t>(state);
    SY_ASSERT(at < kNames.size());
    return kNames[at];
}

}  // namespace

std::string_view long_name(JobState state) { return names_of(state).longer; }
std::string_view short_name(JobState state) { return names_of(state).shorter; }

Result<JobState> parse_job_state(std::string_view text) {
    const auto found = std::ranges::find_if(kNames, [&](const Names& names) {
        return equals_ignoring_case(names.longer, text) ||
               equals_ignoring_case(names.shorter, text);
    });
    if (found == kNames.end()) {
        return fail(Errc::InvalidArgument, fmt::format("Invalid job state specified: {}", text));
    }
    return static_cast<JobState>(found - kNames.begin());
}

Result<StateFilter> parse_state_filter(std::string_view text) {
    StateFilter filter;
    for (std::string_view piece : split(text, ',')) {
        piece = trim(piece);
        if (equals_ignoring_case(piece, "all")) {
            return StateFilter{true, {}};
        }
        SY_TRY(const JobState state, parse_job_state(piece));
        if (std::ranges::find(filter.states, state) == filter.states.end()) {
            filter.states.push_back(state);
        }
    }
    return filter;
}

bool is_finished(JobState state) {
    return state >= JobState::Completed && state <= JobState::OutOfMemory;
}

std::string_view reason_text(Reason reason) {
    switch (reason) {
        case Reason::None:
            return "None";
        case Reason::Priority:
            return "Priority";
        case Reason::Dependency:
            return "Dependency";
        case Reason::Resources:
            return "Resources";
        case Reason::PartitionNodeLimit:
            return "PartitionNodeLimit";
        case Reason::PartitionTimeLimit:
            return "PartitionTimeLimit";
        case Reason::PartitionDown:
            return "PartitionDown";
        case Reason::PartitionInactive:
            return "PartitionInactive";
        case Reason::JobHeldAdmin:
            return "JobHeldAdmin";
        case Reason::JobHeldUser:
            return "JobHeldUser";
        case Reason::BeginTime:
            return "BeginTime";
        case Reason::Licenses:
            return "Licenses";
        case Reason::ReqNodeNotAvail:
            return "ReqNodeNotAvail";
        case Reason::NodeDown:
            return "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher "
                   "priority "
                   "partitions";
        case Reason::JobArrayTaskLimit:
            return "JobArrayTaskLimit";
        case Reason::DependencyNeverSatisfied:
            return "DependencyNeverSatisfied";
        case Reason::BadConstraints:
            return "BadConstraints";
        case Reason::Reservation:
            return "Reservation";
        case Reason::ReservationDeleted:
            return "ReservationDeleted";
        case Reason::AssocGrpCpuLimit:
            return "AssocGrpCpuLimit";
        case Reason::AssocMaxJobsLimit:
            return "AssocMaxJobsLimit";
        case Reason::QosMaxJobsPerUserLimit:
            return "QOSMaxJobsPerUserLimit";
        case Reason::AccountNotAllowed:
            return "AccountNotAllowed";
        case Reason::QosNotAllowed:
            return "QOSNotAllowed";
        case Reason::InvalidAccount:
            return "InvalidAccount";
        case Reason::InvalidQos:
            return "InvalidQOS";
        case Reason::JobHoldMaxRequeue:
            return "JobHoldMaxRequeue";
        case Reason::JobLaunchFailure:
            return "JobLaunchFailure";
        case Reason::NonZeroExitCode:
            return "NonZeroExitCode";
        case Reason::TimeLimit:
            return "TimeLimit";
        case Reason::InactiveLimit:
            return "InactiveLimit";
        case Reason::OutOfMemory:
            return "OutOfMemory";
        case Reason::NodeFail:
            return "NodeFail";
        case Reason::SystemFailure:
            return "SystemFailure";
        case Reason::RaisedSignal:
            return "RaisedSignal";
        case Reason::MaxMemPerLimit:
            return "MaxMemPerLimit";
        case Reason::Prolog:
            return "Prolog";
        case Reason::Preempted:
            return "Preempted";
        case Reason::DeadLine:
            return "DeadLine";
        case Reason::MaxJobsPerUser:
            return "MaxJobsPerUser";
        case Reason::GpuIdle:
            return "GpuIdle";
        case Reason::WaitingForRequeue:
            return "BeginTime";
    }
    return "None";
}

}  // namespace switchyard::model
