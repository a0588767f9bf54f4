// event.hpp: everything that can happen to the cluster. The core is told by these values and by
// nothing else.
//
// A request carries the token under which the shell keeps the connection that waits for its answer,
// and the caller as the kernel (or a vouching agent) named them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/cluster/settings.hpp"
#include "model/caller.hpp"
#include "model/job.hpp"
#include "model/job_array.hpp"
#include "model/job_filter.hpp"
#include "model/job_spec.hpp"
#include "model/node.hpp"
#include "model/reservation.hpp"
#include "model/step.hpp"
#include "model/trigger.hpp"
#include "model/update.hpp"

namespace switchyard::core {

struct Token {
    std::uint64_t value = 0;
    auto operator<=>(const Token&) const = default;
};

using model::Caller;

// How a process group of a step ended on one node.
struct StepReport {
    StepKey key;
    model::ExitStatus
        exit;  // The highest of its tasks on this node (the script's, for a batch step).
    bool timed_out = false;  // stepd ended it at its time limit.
    bool out_of_memory = false;
    bool lost = false;  // The stepd died; what became of its tasks is not known, but they are gone.
    std::string launch_error;  // Not empty: it never ran. With an exit status that is not 0:0 the
                               // job itself was at fault (its files, its user) and ends FAILED with
                               // it; else the node.
    bool job_clean = false;    // Nothing else of this job is left on the node.
    // Lost, because the node's journal says that the script began there before: it was not begun
    // again.
    bool begun_before = false;
    model::StepUsage usage;  // Of its tasks on this node.
};

namespace event {

// --- requests of users
// -------------------------------------------------------------------------------
struct Submit {  // Batch, or an allocation that the token waits for.
    Token token;
    Caller caller;
    model::JobSpec spec;
    std::uint64_t nonce = 0;
    bool test_only = false;
    std::vector<model::JobSpec> components = {};  // Of a heterogeneous job: those after the first.
};
struct Attach {  // A salloc or srun whose connection was lost comes back to its allocation.
    Token token;
    Caller caller;
    JobId job;
};
struct CreateStep {
    Token token;
    Caller caller;
    JobId job;
    model::StepSpec spec;
    std::uint64_t nonce = 0;
    // Steps in other components of a heterogeneous job: all of them are made, or none.
    struct Part {
        JobId job;
        model::StepSpec spec;
    };
    std::vector<Part> more = {};
};
struct WaitForEnd {  // sbatch --wait: answered when the job (all elements of it) has ended.
    Token token;
    Caller caller;
    JobId job;
};
struct TokenGone {  // Its connection closed: nothing waits for an answer any more.
    Token token;
    bool may_return =
        false;  // Only the path to it broke: its allocation outlives it by owner_grace.
};
struct Release {  // The owner of an allocation is done with it and says how its command ended.
    Token token;
    Caller caller;
    JobId job;
    model::ExitStatus exit;
};

struct Signal {  // scancel
    Token token;
    Caller caller;
    model::JobFilter filter;
    int signal = 0;           // 0: end the job (SIGCONT, SIGTERM, KillWait, SIGKILL).
    bool batch_only = false;  // -b
    bool full = false;        // -f: batch shell and steps and all their children
    bool hurry = false;
    std::string admin_comment;  // Of every job that is ended by it; empty: as it was.
};
struct UpdateJob {
    Token token;
    Caller caller;
    std::vector<model::JobSelector> jobs;
    model::JobUpdate update;
};
struct Hold {
    Token token;
    Caller caller;
    std::vector<model::JobSelector> jobs;
    bool hold = true;      // false: release
    bool as_user = false;  // uhold: a hold that the user may lift, set by an operator
};
struct Requeue {
    Token token;
    Caller caller;
    std::vector<model::JobSelector> jobs;
    bool hold = false;
    bool incomplete_only = false;
    bool special_exit = false;  // State=SpecialExit: held, and shown as what it is.
};
struct Suspend {
    Token token;
    Caller caller;
    std::vector<model::JobSelector> jobs;
    bool resume = false;
};
struct Top {
    Token token;
    Caller caller;
    std::vector<model::JobSelector> jobs;
};

// --- requests of operators
// ---------------------------------------------------------------------------
struct UpdateNode {
    Token token;
    Caller caller;
    std::string caller_name;
    model::NodeUpdate update;
};
struct Reboot {
    Token token;
    Caller caller;
    std::string caller_name;
    std::vector<std::string> nodes;  // None: all.
    bool asap = false;
    model::NodeReboot::After after = model::NodeReboot::After::Keep;
    std::optional<std::string> reason;
};
struct UpdatePartition {
    Token token;
    Caller caller;
    model::PartitionUpdate update;
};
struct UpdateReservation {  // Create, change or delete one; names were looked up by the shell.
    Token token;
    Caller caller;
    model::ReservationUpdate update;
};
struct Reconfigure {  // A new configuration was read (and the caller was allowed to ask for it).
    std::optional<Token> token;
    Settings settings;
};

// --- reports of nodes
// --------------------------------------------------------------------------------
struct NodeUp {  // Its agent registered: what it is, and which steps live there now.
    std::string node;
    model::NodeFacts facts;
    std::vector<StepKey> steps;
};
struct NodeLost {  // Its connection closed. It is down only after Settings::node_timeout.
    std::string node;
};
struct NodeLoad {
    std::string node;
    double cpu_load = 0;
    model::MiB free_memory;
    std::string problem;  // See NodeFacts::problem.
    std::vector<model::CardUse> card_use;
};
struct GpuIdle {  // The cards of a job on the node stand idle since then; none: no longer.
    std::string node;
    JobId job;
    Attempt attempt;
    std::optional<Instant> since;
};
struct StepEnded {
    std::string node;
    StepReport report;
};
struct StepStarted {  // Its stepd runs: from here on the node lists it until its end is known.
    std::string node;
    StepKey key;
};
// What the node's journal has of batch scripts that began there: the answer to a controller whose
// records are a restored backup (Cluster::asks_begun).
struct NodeBegan {
    struct Script {
        JobId job;
        Attempt attempt;
        std::optional<model::ExitStatus> exit;  // None: how it ended is not known.
        // Of an element of an array, whose own number may be younger than the backup.
        std::optional<JobId> array = {};
        std::uint32_t element = 0;
        // When the job was; none: not known. A number may be given again in another life of the
        // cluster.
        std::optional<Instant> submitted = {};
    };
    std::string node;
    std::vector<Script> scripts;
};
struct JobClean {  // Nothing of this run is left on the node.
    std::string node;
    JobId job;
    Attempt attempt;
};

struct ScriptFailed {  // A Prolog or Epilog of the site failed on the node, around this run.
    std::string node;
    JobId job;
    Attempt attempt;
    bool epilog = false;
};
struct ProgramEnded {  // PrologSlurmctld or EpilogSlurmctld has run, around this run.
    JobId job;
    Attempt attempt;
    bool epilog = false;
    bool failed = false;
};
// scrontab: from now on these are the recurring jobs of a user, and no others.
struct Crontab {
    Token token;
    Caller caller;  // The user whose they are.
    std::vector<model::JobSpec> jobs;
};

// scontrol notify: a line for whoever looks at the output of the job.
struct Notify {
    Token token;
    Caller caller;
    JobId job;
    std::string text;
};
// swait: told of each end of a step of the job (of one), and then that none is left.
struct WaitForSteps {
    Token token;
    Caller caller;
    JobId job;
    std::optional<StepId> step;
};
struct SetTriggers {  // All of them, or none.
    Token token;
    Caller caller;
    std::string caller_name;
    std::vector<model::Trigger> triggers;  // Ids and owners are given here.
};
struct ClearTriggers {  // Those that match all that is set.
    Token token;
    Caller caller;
    std::optional<std::uint32_t> id;
    std::optional<JobId> job;
    std::optional<std::uint32_t> uid;
};

struct Tick {};  // Time passed: the instant asked for by Cluster::next_wakeup has come.

}  // namespace event

using Event =
    std::variant<event::Submit, event::Attach, event::CreateStep, event::WaitForEnd,
                 event::TokenGone, event::Signal, event::UpdateJob, event::Hold, event::Requeue,
                 event::Suspend, event::Top, event::UpdateNode, event::UpdatePartition,
                 event::Reconfigure, event::NodeUp, event::NodeLost, event::NodeLoad,
                 event::StepEnded, event::JobClean, event::Tick, event::StepStarted, event::Release,
                 event::ScriptFailed, event::GpuIdle, event::Crontab, event::Reboot, event::Notify,
                 event::WaitForSteps, event::SetTriggers, event::ClearTriggers,
                 event::UpdateReservation, event::ProgramEnded, event::NodeBegan>;

}  // namespace switchyard::core
