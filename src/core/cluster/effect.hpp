// effect.hpp: everything the core may ask for. Effects are data; the shell carries them out only
// after the records that the step changed are on disk. Each names job, attempt and node, so a
// repeated or late one is harmless.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/cluster/event.hpp"
#include "model/end_cause.hpp"
#include "model/job.hpp"
#include "model/owner_notice.hpp"
#include "model/records.hpp"
#include "model/step.hpp"

namespace switchyard::core {

namespace reply {
struct Done {  // Per-job failures of a bulk request: "Job is pending execution for job 146".
    struct Problem {
        std::string job;  // As displayed: "12", "12_3".
        Errc code;
    };
    std::vector<Problem> problems;
    std::uint32_t matched = 0;
    std::vector<std::string> touched;  // Ids acted on, for -v.
};
struct Failed {
    Error error;
    std::vector<std::string> notes;  // Lines before it: "invalid partition specified: nosuch".
};
struct Submitted {  // For an allocation: it waits; Granted or Failed follows.
    JobId job;
    std::vector<std::string> notes;  // "Requested partition configuration not available now"
};
struct WouldStart {  // --test-only
    JobId job;
    Instant start;
    std::uint32_t cpus;
    std::vector<std::string> nodes;
    std::string partition;
};
struct Granted {  // The allocation is there.
    JobId job;
};
struct StepWaits {  // The step cannot start now ("Requested nodes are busy"); StepMade follows.
    Errc why;
};
struct StepMade {
    StepKey key;
    std::vector<StepKey> more = {};  // In other components, in the order of the request.
};
struct JobEnded {  // Ends a WaitForEnd; also tells an allocation's owner that it is over.
    JobId job;
    model::Outcome outcome;
    std::uint32_t worst_wait_status = 0;
};
struct CrontabSet {
    std::vector<JobId> jobs;  // In the order of the request.
};
struct ReservationMade {
    std::string name;
};
// To the owner of an allocation, while it lasts: why it is about to end.
struct OwnerNotice {
    using Kind = model::OwnerNotice;
    JobId job;
    Kind kind;
    std::string node;
    std::string text = {};  // Of a message.
};
struct StepEnds {  // Answers a WaitForSteps; the last one when no step is left.
    std::vector<StepKey> steps;
};
}  // namespace reply

using ReplyBody =
    std::variant<reply::Done, reply::Failed, reply::Submitted, reply::WouldStart, reply::Granted,
                 reply::StepWaits, reply::StepMade, reply::JobEnded, reply::OwnerNotice,
                 reply::CrontabSet, reply::StepEnds, reply::ReservationMade>;

using model::EndCause;

namespace effect {

struct Reply {
    Token token;
    ReplyBody body;
    bool last = true;  // No more answers to this token.
};
struct LaunchBatch {  // To the job's first node.
    std::string node;
    JobId job;
    Attempt attempt;
};
struct LaunchStep {  // To one node of the step. The shell has the command line and environment from
                     // srun.
    std::string node;
    StepKey key;
};
struct SignalSteps {  // Deliver a signal and go on.
    std::string node;
    JobId job;
    Attempt attempt;
    std::optional<StepId> step;  // One step; none: see the flags.
    int signal = 0;
    bool batch_shell = false;    // Include the batch shell.
    bool steps = true;           // Include srun's steps.
    bool all_processes = false;  // Every process of them, not only what stepd started.
};
struct EndStep {  // SIGTERM, KillWait, SIGKILL to one step.
    std::string node;
    StepKey key;
    EndCause cause;
};
struct EndJob {  // The same for all that is left of the job there; answered by JobClean.
    std::string node;
    JobId job;
    Attempt attempt;
    EndCause cause;
    Seconds grace{0};  // KillWait; 0: at once.
};
struct PrepareJob {  // The node is one of the job's: its Prolog may run (PrologFlags=Alloc).
    std::string node;
    JobId job;
    Attempt attempt;
};
struct SetDeadline {
    std::string node;
    JobId job;
    Attempt attempt;
    std::optional<Instant> deadline;
};
struct Freeze {
    std::string node;
    JobId job;
    Attempt attempt;
    bool thaw = false;
    Seconds grace{0};  // Between SIGTSTP, which a program can heed, and the freezing.
};
struct StepEndKnown {  // The report is on disk: stepd may go.
    std::string node;
    StepKey key;
};
struct RebootNode {
    std::string node;
};
struct NotifyBatch {  // To the first node of a job with a script.
    std::string node;
    JobId job;
    Attempt attempt;
    std::string text;
};
struct RunTrigger {  // On the controller's host, as the user who set it.
    model::Trigger trigger;
    std::string argument;
};
// PrologSlurmctld or EpilogSlurmctld of the site, around this run. Answered by ProgramEnded.
struct RunProgram {
    JobId job;
    Attempt attempt;
    bool epilog = false;
};
struct StopProgram {  // The run is over before its PrologSlurmctld was: not answered.
    JobId job;
    Attempt attempt;
};
// An error of the core itself: something is due again and again and changes nothing. It is left
// alone for a while; the shell tells people.
struct Stalled {
    std::string what;          // "the job timer of job 12"
    std::optional<JobId> job;  // That it is about.
    Seconds rest{0};
};
struct Mail {
    JobId job;
    model::MailEvent event;
    std::string to;
    std::string subject;
    std::vector<std::pair<std::string, std::string>> environment;
};

}  // namespace effect

using Effect =
    std::variant<effect::Reply, effect::LaunchBatch, effect::LaunchStep, effect::SignalSteps,
                 effect::EndStep, effect::EndJob, effect::SetDeadline, effect::Freeze,
                 effect::StepEndKnown, effect::Mail, effect::PrepareJob, effect::RebootNode,
                 effect::NotifyBatch, effect::RunTrigger, effect::RunProgram, effect::StopProgram,
                 effect::Stalled>;

// The records a step touched, for the shell to write in one transaction, and what follows from that
// for what is kept beside them.
struct Changes : model::RecordChanges {
    std::set<JobId>
        forgotten_jobs;  // Left memory (MinJobAge); their records stay in the store as history.
    // Scripts and environments that no job in memory needs any more, by the id they are kept under:
    // a job's own, or its array's.
    std::set<JobId> unneeded_payloads;

    bool empty() const {
        return !has_records() && forgotten_jobs.empty() && unneeded_payloads.empty();
    }
    // What happened after it.
    void follow_with(Changes newer) {
        forgotten_jobs.merge(newer.forgotten_jobs);
        unneeded_payloads.merge(newer.unneeded_payloads);
        RecordChanges::follow_with(std::move(newer));
    }
};

}  // namespace switchyard::core
