// steps.hpp: the steps that live on this node, each owned by a stepd.
//
// A step is known by the file of its stepd's socket in the spool, made before the stepd starts and
// removed when the controller has its end on disk. So a restarted agent finds every step again: it
// connects to each socket; one that nobody answers belonged to a stepd that died, and what that
// left is killed and reported as lost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/card_turns.hpp"
#include "agent/gpu_usage.hpp"
#include "agent/job_scripts.hpp"
#include "agent/journal.hpp"
#include "agent/spares.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "model/gres.hpp"
#include "os/containment.hpp"
#include "os/log.hpp"
#include "wire/channel.hpp"

namespace switchyard::wire {
class AgentToController;
class AgentToStepd;
class EndJob;
class AttachStep;
class NotifyJob;
class EndStep;
class Freeze;
class LaunchStep;
class PidsAnswer;
class PidsAsk;
class PrepareJob;
class SetDeadline;
class SignalSteps;
class StepReport;
class StepUsage;
class StepdToAgent;
}  // namespace switchyard::wire

namespace switchyard::agent {

// What this node's stepds are told with every launch.
struct NodeSetup {
    std::string node;
    std::string spool;
    os::ContainmentPlan containment;
    std::vector<model::IndexSet> core_cpus;
    bool pretend = false;
    std::vector<model::GresInventory> gres;
    ScriptSetup scripts;
    std::string share_folder;  // Of the guard and of MPS; empty: shares are not kept.
    // What a step may take to end once it is killed, and the program that is run when it does not.
    Seconds unkillable_timeout{60};
    std::string unkillable_program;
};

class Steps {
  public:
    using Send = std::function<void(const wire::AgentToController& message)>;

    Steps(io::Loop& loop, NodeSetup setup, const os::Log& log, Send send);
    ~Steps();

    // Looks for what an earlier agent left: sockets in the spool, and cgroups without one.
    void recover();
    std::vector<StepKey> keys() const;  // All whose end the controller does not yet know.
    // The controller is there (again): tells it the ends it may have missed.
    void report_again();
    // Its records are a restored backup: tells it which scripts began here.
    void report_begun();
    void set_setup(NodeSetup setup);
    void renew_spares() { spares_.renew(); }
    // Of the cards whose shares the guard keeps: steps are told of it.
    CardTurns& turns() { return turns_; }

    void launch(wire::LaunchStep&& launch);
    void prepare(const wire::PrepareJob& order);
    void signal(const wire::SignalSteps& order);
    void end_step(const wire::EndStep& order);
    void attach(const wire::AttachStep& order);
    void notify(const wire::NotifyJob& order);
    void end_job(const wire::EndJob& order);
    void set_deadline(const wire::SetDeadline& order);
    void freeze(const wire::Freeze& order);
    void end_known(const StepKey& key);
    void ask_pids(const wire::PidsAsk& ask);

    using JobKey = agent::JobKey;
    // What jobs with live steps hold here.
    std::map<JobKey, std::vector<model::GresGrant>> held_gres() const;
    // The live steps of such jobs, with their processes.
    std::vector<StepCards> steps_with_cards() const;
    // By whoever watches the node's cards; each may be missing.
    struct CardHooks {
        // What else is known of a step's use, to be told with what its stepd says.
        std::function<model::StepUsage(const StepKey&)> usage_of;
        // Asked when a step that holds cards begins, and before its end is told: what it did with
        // them is seen once more before `then`. False: nobody looks.
        std::function<bool(std::function<void()> then)> look;
        // A child of ours that is no stepd, and none that a stepd left.
        std::function<bool(pid_t)> is_kept;
    };
    void set_card_hooks(CardHooks hooks) { cards_ = std::move(hooks); }
    // Steps of an earlier agent have not yet said how they stand.
    bool recovering() const;
    // The processes of a job.
    std::set<pid_t> pids_of(const JobKey& job) const;
    // None runs, whether or not the controller knows that yet.
    bool all_ended() const;
    // Something is wrong with the node, and it must not be given more work.
    void on_fault(std::function<void(const std::string& reason)> fault) {
        fault_ = std::move(fault);
    }

  private:
    struct Step {
        uid_t owner = 0;
        pid_t pid = 0;  // 0: not known (yet).
        std::unique_ptr<wire::Channel> channel;
        bool ready = false;                        // The channel may be written to.
        std::vector<std::string> waiting;          // Orders until then.
        std::unique_ptr<wire::StepReport> report;  // It has ended.
        // Not reported to anybody: what is left of a step that nobody knows. A launch waits for its
        // end.
        bool unknown = false;
        bool found = false;                      // An earlier agent's; it has not yet answered.
        std::unique_ptr<wire::StepReport> last;  // Its end, while its cards are looked at.
        io::Loop::Timer patience;                // With that look.
        std::unique_ptr<wire::StepUsage> usage;  // As last told, should its stepd die.
        std::unique_ptr<wire::LaunchStep> next;
        std::unique_ptr<wire::LaunchStep> preparing;  // Until the job's Prolog has run.
        std::vector<model::GresGrant> gres;           // Of the whole job on this node.
        std::uint32_t first_task = 0;                 // Of its ranks here.
        io::Loop::Timer cleaning;                     // Killing what a dead stepd left.
        Millis pause{1};
        std::optional<Instant> ends_by;  // It was ordered to end, and is stuck if it does not.
        io::Loop::Timer last_call, stuck;
        std::optional<Instant> left_at;  // What cannot be killed is left then.
    };
    // The steps of a job whose batch script is ended first.
    struct HeldEnd {
        std::unique_ptr<wire::EndJob> order;
        io::Loop::Timer patience;
    };
    struct PidsGathering {
        std::unique_ptr<wire::PidsAnswer> answer;
        std::size_t missing = 0;
        io::Loop::Timer timeout;
    };

    std::string socket_path(const StepKey& key) const;
    std::optional<uid_t> owner_of(const StepKey& key) const;
    Result<io::Fd> listen_for(const StepKey& key);
    void start(const StepKey& key, wire::LaunchStep&& launch);
    Status spawn(const StepKey& key, wire::LaunchStep&& launch);
    // A script that began here before is answered with its end, and not started: true.
    bool began_before(const StepKey& key, const wire::LaunchStep& launch);
    void note_end(const StepKey& key, const wire::StepReport& report);
    void prepare(const ScriptJob& job);
    void on_prepared(const JobKey& job, const Status& status);
    void abandon(const StepKey& key);
    void say_script_failed(const JobKey& job, bool epilog, const Error& why);
    void say_clean(const JobKey& job);
    void attach(const StepKey& key);
    wire::Channel::Handlers handlers(const StepKey& key);
    void on_message(const StepKey& key, const wire::StepdToAgent& message);
    void on_closed(const StepKey& key);
    void clean(const StepKey& key);
    void finish(const StepKey& key, wire::StepReport report);
    void tell_end(const StepKey& key);
    void send_report(const Step& step);
    void send_to(const StepKey& key, const wire::AgentToStepd& order);
    void check_job(const JobKey& job);
    // steps_stuck.cpp: a step that does not end.
    void expect_end(const StepKey& key, Seconds grace);
    void call_once_more(const StepKey& key);
    void on_stuck(const StepKey& key);
    void kill_stuck(const StepKey& key);
    void order_end(const StepKey& key, const wire::EndJob& order, bool announce);
    void release_end(const JobKey& job);
    bool is_alive(const JobKey& job, const StepKey* except) const;
    void for_each(JobId job, Attempt attempt, const std::function<void(const StepKey&)>& call);
    void reap();
    void kill_adopted();
    void finish_pids(std::uint64_t id);
    std::unique_ptr<wire::StepUsage> more_usage(const StepKey& key) const;

    io::Loop& loop_;
    NodeSetup setup_;
    const os::Log& log_;
    Send send_;
    std::unique_ptr<os::Containment> walls_;
    Spares spares_;
    std::map<StepKey, Step> steps_;
    // Asked to be clean, not yet so. Nothing but its Epilog is left of one that is `cleaning`.
    struct Ending {
        std::unique_ptr<wire::EndJob> order;
        bool cleaning = false;
    };
    std::map<JobKey, Ending> ending_jobs_;
    CardTurns turns_;
    JobScripts scripts_;
    Journal journal_;
    std::map<JobKey, HeldEnd> held_ends_;
    std::map<std::uint64_t, PidsGathering> gathering_;
    io::Loop::Watch child_watch_;
    CardHooks cards_;
    std::function<void(const std::string& reason)> fault_;
};

}  // namespace switchyard::agent
