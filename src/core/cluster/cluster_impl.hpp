// cluster_impl.hpp: the inside of Cluster, shared by the files of this folder and nobody else.
//
// One verb, one file: the methods below are defined in the file named in front of each block. The
// records (jobs, steps, nodes, partitions) are the truth; everything else here is derived from them
// and is rebuilt by the constructor after a restart.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/cluster/arrays.hpp"
#include "core/cluster/cluster.hpp"
#include "core/cluster/dependencies.hpp"
#include "core/cluster/eligibility.hpp"
#include "core/cluster/het_jobs.hpp"
#include "core/cluster/holdings.hpp"
#include "core/cluster/idle_gpus.hpp"
#include "core/cluster/job_counts.hpp"
#include "core/cluster/job_facts.hpp"
#include "core/cluster/job_timers.hpp"
#include "core/cluster/launcher.hpp"
#include "core/cluster/licenses.hpp"
#include "core/cluster/mail.hpp"
#include "core/cluster/nodes/begun.hpp"
#include "core/cluster/nodes/nodes.hpp"
#include "core/cluster/nodes/restore.hpp"
#include "core/cluster/nonces.hpp"
#include "core/cluster/patience.hpp"
#include "core/cluster/planning/planning.hpp"
#include "core/cluster/reservations/calendar.hpp"
#include "core/cluster/steps/steps.hpp"
#include "core/cluster/triggers/triggers.hpp"
#include "core/cluster/waiters.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/idle.hpp"

namespace switchyard::core {

// How long a requeued job rests before it is eligible again; longer when a node could not start it.
inline constexpr Seconds kRequeueRest{1};
inline constexpr Seconds kLaunchFailureRest{5};
inline constexpr std::uint32_t kLaunchAttemptsMax = 3;
// One Tick looks at so many timers before it lets others in.
inline constexpr std::uint32_t kTimersPerTickMax = 20000;

class Cluster::Impl {
  public:
    Impl(Settings settings, Records records, Instant now, JobKeeping keeping);
    ~Impl();

    // --- cluster.cpp: dispatch, records, small tools
    void step(Instant at, const Event& event);
    template <class E>
    void dispatch(const E& event);
    // Short forms of what the world does, for verbs that have no owner of their own yet.
    template <class Record>
    void touch(const Record& record) {
        world_.touch(record);
    }
    void touch_node(NodeIndex node) { world_.touch_node(node); }
    template <class E>
    void emit(E effect) {
        world_.emit(std::move(effect));
    }
    void reply(Token token, ReplyBody body, bool last = true) {
        world_.reply(token, std::move(body), last);
    }
    void refuse(Token token, Errc code, std::vector<std::string> notes = {}) {
        world_.refuse(token, code, std::move(notes));
    }
    Job* find_job(JobId id) { return world_.find_job(id); }
    const Job* find_job(JobId id) const { return world_.find_job(id); }
    std::optional<NodeIndex> node_index(std::string_view name) const {
        return world_.node_index(name);
    }
    std::optional<PartitionIndex> partition_index(std::string_view name) const {
        return world_.partition_index(name);
    }
    const model::Partition* partition_of(const Job& job) const { return world_.partition_of(job); }
    model::Rights rights_of(const Caller& caller) const { return world_.rights_of(caller); }
    std::optional<Instant> next_wakeup() const;

    // --- recovery.cpp: from records to the derived tables; reconfiguration
    void load(Records records);
    void take_record(Job record, std::vector<model::Step> steps, std::vector<JobId>& entangled);
    void review_each(const std::vector<JobId>& ids);
    void reset_tables();
    void rebuild();
    void on(const event::Reconfigure& event);

    // --- submit.cpp, validate.cpp
    void on(const event::Submit& event);
    Status complete_components(const event::Submit& event, std::vector<JobSpec>& specs,
                               std::vector<std::string>& notes) const;
    Job& accept(JobSpec spec, const event::Submit& event, std::optional<model::HetPlace> het);
    Status complete_spec(JobSpec& spec, std::vector<std::string>& notes) const;
    Status validate(const JobSpec& spec, const Caller& caller,
                    std::vector<std::string>& notes) const;
    void limit_memory(JobSpec& spec) const;
    Status check_dependency(const JobSpec& spec) const;
    void answer_test_only(const event::Submit& event, const JobSpec& spec,
                          std::vector<std::string> notes);
    bool answer_repeated(const event::Submit& event);
    void withdraw(Job& job);
    void withdraw_record(Job& job);

    // --- ownership.cpp: allocations and those who wait
    void on(const event::TokenGone& event);
    void on(const event::Release& event);
    void owner_left(Job& job, std::optional<model::ExitStatus> exit);

    // --- seam.cpp: one function changes phases, all who must hear of it do
    auto observers();
    template <class Act>
    void for_each_owner(Act act);
    void tell(const Transition& transition);
    void load(const Job& job);
    void clear_owners();
    void check_owners();
    Transition enter(Job& job, model::JobPhase phase, Cause cause);
    void change(Job& job, model::JobPhase phase, Cause cause);
    // While one lives something is being changed; the outermost, at its end, sees to it that all
    // is done that the change made necessary.
    class Operation {
      public:
        explicit Operation(Impl& cluster);
        ~Operation();
        Operation(const Operation&) = delete;

      private:
        Impl& cluster_;
    };
    void settle();
    void tell_planning();

    // --- lifecycle.cpp: start, end, requeue of one run
    void start(Job& job, PartitionIndex partition, model::Allocation allocation, bool backfilled,
               const Terms& terms);
    void end_run(Job& job, model::Outcome outcome, EndCause cause, Seconds grace,
                 model::Completing::Next next, const std::set<std::string>& clean_already = {});
    void node_is_clean(Job& job, const std::string& node);
    void finish(Job& job);
    void finish_run(Job& job);
    void end_pending(Job& job, model::Outcome outcome);
    void stop_return(Job& job, const model::Outcome& outcome);
    void requeue_now(Job& job, Cause cause, bool hold, Seconds rest);
    void forget(JobId id);
    void reset_end(Job& job);

    // --- site_programs.cpp: PrologSlurmctld and EpilogSlurmctld
    void on(const event::ProgramEnded& event);
    void prolog_failed(Job& job);

    // Short forms of what these owners do, for verbs that have no owner of their own yet.
    void claim(const Job& job) { holdings_.claim(job); }
    void release_on(const Job& job, const std::string& node) { holdings_.release_on(job, node); }
    void set_until(const Job& job) { holdings_.set_until(job); }
    void review(Job& job) { eligibility_.review(job); }
    void set_reason(Job& job, model::Reason reason, std::string detail = {}) {
        hets_.set_reason(job, reason, std::move(detail));
    }
    void unqueue(JobId id) { eligibility_.unqueue(id); }

    void schedule(Instant at);

    void on(const event::UpdateReservation& event);

    // --- split.cpp
    Job& split_off(Job& block, const model::IndexSet& elements);
    Job& split_element(Job& block, std::uint32_t element);
    void settle_correspondence(Job& job);
    std::vector<JobId> select(const model::JobSelector& selector, bool splits);

    // --- het.cpp: heterogeneous jobs: several records that wait, start and end together
    bool review_follower(Job& job);
    void end_companions(const Job& job, const model::Outcome& outcome, EndCause cause,
                        Seconds grace, model::Completing::Next next);
    void end_pending_companions(const Job& job, const model::Outcome& outcome);
    void end_orphans();

    // --- cron.cpp: jobs that come again (scrontab)
    void on(const event::Crontab& event);
    void retire_crontab(std::uint32_t uid);

    // --- step_reports.cpp
    void on(const event::StepStarted& event);
    void on(const event::StepEnded& event);
    void on(const event::JobClean& event);
    void batch_ended(Job& job, const StepReport& report, const std::string& node);

    // --- journals.cpp: after a restored backup
    void end_restoring();
    void ghosts_left(NodeIndex node);
    void on(const event::NodeBegan& event);
    void settle_begun(Job& job, NodeIndex node, const event::NodeBegan::Script& script);
    Job* begun_job(NodeIndex node, const event::NodeBegan::Script& script);
    void launch_unbegun(NodeIndex node);

    // --- cancel.cpp
    void on(const event::Signal& event);
    void cancel(Job& job, const Caller& caller, Seconds grace);
    void signal_running(const Job& job, const event::Signal& event, std::optional<StepId> step);
    std::vector<JobId> candidates(const event::Signal& event) const;
    void comment_on(JobId id, const std::string& admin_comment);
    std::optional<Errc> signal_one(JobId id, const event::Signal& event,
                                   std::optional<StepId> step);

    // --- hold.cpp, requeue.cpp, suspend.cpp, update_job.cpp
    void on(const event::Hold& event);
    void on(const event::Top& event);
    void on(const event::Requeue& event);
    std::optional<Errc> requeue_one(Job& job, const event::Requeue& event);
    void on(const event::Suspend& event);
    void freeze(Job& job);
    void thaw(Job& job);
    void tell_frozen(Job& job, bool frozen);
    void on(const event::UpdateJob& event);
    std::optional<Errc> update_one(Job& job, const event::UpdateJob& event);
    std::optional<Errc> update_time_limit(Job& job, const event::UpdateJob& event, JobSpec& spec);
    std::optional<Errc> update_end(const Job& job, const event::UpdateJob& event,
                                   JobSpec& spec) const;
    std::optional<Errc> update_time_min(const model::JobUpdate& update, JobSpec& spec) const;
    std::optional<Errc> update_cpus(const model::JobUpdate& update, JobSpec& spec) const;
    std::optional<Errc> update_prefer(const model::JobUpdate& update, JobSpec& spec) const;
    bool is_known_constraint(const std::string& text) const;
    std::optional<Errc> update_shape(Job& job, const model::JobUpdate& update, const Caller& caller,
                                     JobSpec& spec);
    template <class Act>
    reply::Done for_each_selected(const std::vector<model::JobSelector>& selectors,
                                  const Caller& caller, Act act);

    // --- node_events.cpp, reconcile.cpp, update_node.cpp, update_partition.cpp
    void on(const event::NodeUp& event);
    void on(const event::NodeLost& event);
    void on(const event::ScriptFailed& event);
    void on(const event::GpuIdle& event);  // idle_gpus.cpp
    void gpus_stand_idle(Job& job);
    void reconcile(NodeIndex node, const std::vector<StepKey>& listed);
    void reconcile_job(Job& job, const std::string& node, const std::set<StepKey>& listed,
                       bool rebooted);
    void node_down(NodeIndex node, const std::string& reason, const std::string& by);
    void node_failed_job(Job& job, const std::string& node);
    void node_timer(NodeIndex node);
    void reboot_timer(NodeIndex node);
    void on(const event::UpdateNode& event);
    void resume_timer(NodeIndex index);
    void set_node_state(NodeIndex node, const model::NodeUpdate& update, const std::string& by);
    void on(const event::UpdatePartition& event);
    void write_partition(const model::Partition& partition);

    void on(const event::Notify& event);  // notify.cpp

    // --- ticking.cpp: what is due, and what is due for ever
    void on(const event::Tick& event);
    void fire(TimerKey key);
    void timer_stalls(TimerKey key, Seconds rest);
    void count_pass();

    // --- timing.cpp
    void job_timer(Job& job);
    void running_timer(Job& job);

    // --- invariants.cpp
    void check_invariants();

    World world_;
    // Members of the world, under the names that verbs without an owner of their own use.
    Settings& settings_ = world_.settings;
    Instant& now_ = world_.now;
    JobTable& jobs_ = world_.jobs;
    std::map<StepKey, model::Step>& steps_ = world_.steps;
    std::vector<model::Node>& nodes_ = world_.nodes;
    std::vector<model::Partition>& partitions_ = world_.partitions;
    sched::NodePool& pool_ = world_.pool;
    Changes& changes_ = world_.changes;
    SchedulerFigures& figures_ = world_.figures;
    Timers& timers_ = world_.timers;

    // Owners of one concern each.
    HetJobs hets_{world_};
    Licenses licenses_{world_, hets_, calendar_};
    Calendar calendar_{world_, planning_, hets_, licenses_};
    Arrays arrays_{world_, hets_};
    Dependencies dependencies_{world_, arrays_};
    Triggers triggers_{world_};
    Nodes machines_{world_, triggers_};
    Restore restore_{world_, machines_};
    Begun begun_{world_};
    JobTimers job_timers_{world_, dependencies_, triggers_};
    Waiters waiters_{world_, arrays_};
    Steps job_steps_{world_, hets_, machines_, restore_, waiters_};
    Mail mail_{world_, arrays_};
    IdleGpus idle_gpus_;
    Holdings holdings_{world_, planning_, machines_, licenses_, calendar_};
    Launcher launcher_{world_, hets_, restore_, job_steps_, waiters_, job_timers_};
    JobCounts counts_{world_};
    Nonces nonces_;
    Planning planning_{
        world_, {holdings_, hets_, licenses_, calendar_, arrays_, job_timers_, waiters_}, *this};
    Eligibility eligibility_{world_,
                             {planning_, hets_, licenses_, calendar_, arrays_, dependencies_,
                              restore_, job_timers_, mail_},
                             *this};

    // Records.
    std::set<std::string> runtime_partitions_, deleted_partitions_;

    // Derived.
    TimerPatience timer_patience_;
    PassPatience pass_patience_;
    std::optional<Instant> passes_rest_until_;
};

}  // namespace switchyard::core
