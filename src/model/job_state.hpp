// job_state.hpp: the words for what a job is doing and why it waits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace switchyard::model {

// What people see. It is derived from a job's state type (model/job.hpp), never stored beside it.
// Wire numbers: append only.
enum class JobState : std::uint8_t {
    Pending = 0,
    Running = 1,
    Suspended = 2,
    Completed = 3,
    Cancelled = 4,
    Failed = 5,
    Timeout = 6,
    NodeFail = 7,
    Preempted = 8,
    BootFail = 9,
    Deadline = 10,
    OutOfMemory = 11,
    // Shown in place of the base state while they last.
    Completing = 12,
    Configuring = 13,
    Requeued = 14,
    RequeueHold = 15,
    SpecialExit = 16,
    Revoked = 17,
    Resizing = 18,
    Signaling = 19,
    StageOut = 20,
    Stopped = 21,
    RequeueFed = 22,
    ResvDelHold = 23,
};
inline constexpr JobState kJobStateLast = JobState::ResvDelHold;  // Moves with what is appended.

std::string_view long_name(JobState state);   // "PENDING", "NODE_FAIL"
std::string_view short_name(JobState state);  // "PD", "NF"
// Long or short, any case: "PD", "pending", "node_fail".
Result<JobState> parse_job_state(std::string_view text);
// "all" is an empty list with `all` set; "PD,R" two states. Slurm's message on a bad one:
// "Invalid job state specified: xyz".
struct StateFilter {
    bool all = false;
    std::vector<JobState> states;
};
Result<StateFilter> parse_state_filter(std::string_view text);
bool is_finished(JobState state);  // Completed and everything else a job can end as.

// Why a pending job waits, or why a finished one ended as it did. Append only.
enum class Reason : std::uint8_t {
    None = 0,
    Priority,
    Dependency,
    Resources,
    PartitionNodeLimit,
    PartitionTimeLimit,
    PartitionDown,
    PartitionInactive,
    JobHeldAdmin,
    JobHeldUser,
    BeginTime,
    Licenses,
    ReqNodeNotAvail,
    NodeDown,  // "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher
               // priority..."
    JobArrayTaskLimit,
    DependencyNeverSatisfied,
    BadConstraints,
    Reservation,
    ReservationDeleted,
    AssocGrpCpuLimit,
    AssocMaxJobsLimit,
    QosMaxJobsPerUserLimit,
    AccountNotAllowed,
    QosNotAllowed,
    InvalidAccount,
    InvalidQos,
    JobHoldMaxRequeue,
    JobLaunchFailure,  // "JobLaunchFailure"
    NonZeroExitCode,
    TimeLimit,
    InactiveLimit,
    OutOfMemory,
    NodeFail,
    SystemFailure,
    RaisedSignal,
    Prolog,
    Preempted,
    DeadLine,
    MaxJobsPerUser,
    WaitingForRequeue,  // Just requeued: eligible a moment later ("BeginTime" to users).
    MaxMemPerLimit,     // More memory than MaxMemPerCPU or MaxMemPerNode allow.
    GpuIdle,            // It runs, and its cards stand idle.
};
inline constexpr Reason kReasonLast = Reason::GpuIdle;  // Moves with what is appended.

std::string_view reason_text(Reason reason);  // "JobHeldUser", "ReqNodeNotAvail", ...

}  // namespace switchyard::model
