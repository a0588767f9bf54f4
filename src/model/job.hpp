// job.hpp: a job as the controller knows it. A job is in exactly one state, and each state holds
// only what is true in it: a running job has an allocation, a pending one has a reason.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "model/job_array.hpp"
#include "model/job_spec.hpp"
#include "model/job_state.hpp"
#include "model/resources.hpp"

namespace switchyard::model {

// How a process ended, as wait(2) tells it: an exit code, or the signal that killed it.
struct ExitStatus {
    std::int32_t code = 0;
    std::int32_t signal = 0;
    bool ok() const { return code == 0 && signal == 0; }
    bool operator==(const ExitStatus&) const = default;
    static ExitStatus from_wait(int status);
    int to_wait() const;
};
std::string to_string(const ExitStatus& status);  // "1:0", "0:15"

enum class Hold : std::uint8_t { None = 0, User = 1, Admin = 2 };

// How a run of a job came to its end.
struct Outcome {
    JobState state = JobState::Completed;  // A finished state.
    Reason reason = Reason::None;
    ExitStatus exit;                            // Of the batch script.
    ExitStatus derived_exit;                    // The highest of its steps.
    std::optional<std::uint32_t> cancelled_by;  // uid
    bool operator==(const Outcome&) const = default;
};

struct Pending {
    Reason reason = Reason::None;
    std::string detail;  // More than the word, for people: which nodes, which job is ahead.
    Hold hold = Hold::None;
    Instant eligible_at{};                 // Begin time; after a requeue, a moment later.
    std::optional<Instant> planned_start;  // By backfill.
    std::vector<std::string> planned_nodes;
    bool special_exit = false;  // Requeued as one whose end is to be looked at.
    bool operator==(const Pending&) const = default;
};

// Another job of a higher tier takes its place.
struct Preemption {
    Instant at{};
    JobId by;
    std::optional<Instant> grace_ends;  // It was warned, and is ended then.
    bool lends_cores = false;           // Suspended for it: its cores are the other's meanwhile.
    bool operator==(const Preemption&) const = default;
};

struct Running {
    Allocation allocation;
    Instant started{};
    std::optional<Instant> ends_by;          // None: unlimited.
    Seconds suspended_for{0};                // In all, before now.
    std::optional<Instant> gpus_idle_since;  // Flagged: it holds cards and does not use them.
    std::string reservation;                 // The one it runs in; empty: none.
    std::string licenses;                    // What it holds of them: "fluent:2".
    std::optional<Instant> preemptable_at;   // From then on; none: never.
    std::optional<Preemption> preempted;
    bool configuring = false;  // PrologSlurmctld has not ended: nothing is launched.
    // Its script was seen to begin: in this attempt it is never begun again. On disk about a second
    // after the fact at the latest (core/cluster/begun.cpp).
    bool begun = false;
    bool operator==(const Running&) const = default;
};

struct Suspended {
    Running run;
    Instant since{};
    bool operator==(const Suspended&) const = default;
};

// Its outcome is known; some nodes have not yet said that nothing of it is left. Those are still
// its own.
struct Completing {
    enum class Next : std::uint8_t { End = 0, Requeue = 1, RequeueHold = 2, SpecialExit = 3 };
    Running run;
    Instant ended{};
    Outcome outcome;
    std::vector<std::string> dirty_nodes;
    Next next = Next::End;
    bool epilog = false;  // All nodes are clean; EpilogSlurmctld has not ended.
    bool operator==(const Completing&) const = default;
};

struct Ended {
    std::optional<Running> run;  // None: it never ran.
    Instant ended{};
    Outcome outcome;
    bool operator==(const Ended&) const = default;
};

using JobPhase = std::variant<Pending, Running, Suspended, Completing, Ended>;

// Where a job record stands among the components of a heterogeneous job. The ids follow one
// another, from the leader's on.
struct HetPlace {
    JobId leader;
    std::uint32_t offset = 0, size = 0;
    bool operator==(const HetPlace&) const = default;
};

struct Job {
    JobId id;
    std::optional<HetPlace> het;
    std::optional<ArrayPlace> array;
    // Shared between the elements of an array and with readers; replaced, never changed in place.
    std::shared_ptr<const JobSpec> spec;
    Attempt attempt;
    std::uint32_t restarts = 0;
    std::uint32_t priority = 0;  // 0: held.
    std::string partition;       // The one it runs in, or the first it asked for.
    Instant submitted{};
    std::optional<Instant> eligible;  // Since when it could have run; of its present attempt.
    std::optional<Instant> last_evaluated;
    std::string scheduler;  // "Main" or "Backfill": who looked last.
    std::uint32_t next_step = 0;
    std::uint64_t nonce = 0;  // Chosen by the submitter: a repeated submission is recognised by it.
    std::string admin_comment, system_comment;
    JobPhase phase = Pending{};

    bool operator==(const Job&) const;
};

JobState state_of(
    const Job& job);  // Completing or Configuring while it is; see base_state_of for the rest.
JobState base_state_of(
    const Job& job);  // Of a completing one: how it ended, or Pending if it runs again.
Reason reason_of(const Job& job);
bool is_finished(const Job& job);                 // Ended: nothing of it is left anywhere.
const Allocation* allocation_of(const Job& job);  // Null when it holds none and never did.
std::optional<Instant> start_of(
    const Job& job);  // Of its run; a plan for a pending one is in Pending.
// When it ended; while it runs, when its time limit will end it, if it has one.
std::optional<Instant> end_of(const Job& job);
// Time it ran so far, without suspensions.
Seconds run_time(const Job& job, Instant now);
const Outcome* outcome_of(const Job& job);  // Null before it is known.
const Running* run_of(const Job& job);      // The run in any phase that has one.

// "126", "126_1", "126_[3-8%2]", "126+1"
std::string display_id(const Job& job);

}  // namespace switchyard::model
