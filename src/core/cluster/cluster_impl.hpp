// cluster_impl.hpp: the inside of Cluster, shared by the files of this folder and nobody else.
//
// One verb, one file: the methods below are defined in the file named in front of each block. The
// records (jobs, steps, nodes, partitions) are the truth; everything else here is derived from them
// and is rebuilt by the constructor after a restart.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/packed_set.hpp"
#include "core/cluster/cluster.hpp"
#include "core/cluster/derived.hpp"
#include "core/cluster/eligibility.hpp"
#include "core/cluster/holdings.hpp"
#include "core/cluster/name_index.hpp"
#include "core/cluster/patience.hpp"
#include "core/cluster/planning/planning.hpp"
#include "core/cluster/timers.hpp"
#include "core/cluster/trigger_table.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/idle.hpp"
#include "core/sched/license_ledger.hpp"

namespace switchyard::core {

using event::JobFilter;

// How long a requeued job rests before it is eligible again; longer when a node could not start it.
inline constexpr Seconds kRequeueRest{1};
inline constexpr Seconds kLaunchFailureRest{5};
inline constexpr std::uint32_t kLaunchAttemptsMax = 3;
// That scripts have begun is written for all of them together, so long after the first.
inline constexpr Seconds kBegunWithin{1};
// Added to the time limit before the controller itself ends a job whose stepd should have done so.
inline constexpr Seconds kBackupSlack{60};
// How long a node may take over an EndJob beyond its grace before it is told again.
inline constexpr Seconds kEndJobRepeat{60};
// One Tick looks at so many timers before it lets others in.
inline constexpr std::uint32_t kTimersPerTickMax = 20000;
inline constexpr std::uint32_t kPriorityTop = 4294901760u;

// An outcome that no process had a part in.
inline model::Outcome outcome_without_exit(model::JobState state, model::Reason reason,
                                           std::optional<std::uint32_t> by = std::nullopt) {
    model::Outcome outcome;
    outcome.state = state;
    outcome.reason = reason;
    outcome.cancelled_by = by;
    return outcome;
}

inline bool is_configuring(const Job& job) {
    const model::Running* run = model::run_of(job);
    return run != nullptr && run->configuring;
}

// What the configuration leaves open is taken from the machine.
void fill_from_facts(model::NodeConfig& config, bool gres_are_configured,
                     const model::NodeFacts& facts);

class Cluster::Impl {
  public:
    Impl(Settings settings, Records records, Instant now, JobKeeping keeping);
    ~Impl();

    enum class StepTry { Made, Busy, Refused };
    // Where the part of a step in one job goes.
    struct StepPlan {
        model::StepLayout layout;
        std::string ports;
        std::optional<model::HetStep> het;
    };

    // --- cluster.cpp: dispatch, records, small tools
    void step(Instant at, const Event& event);
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
    bool is_operator(const Caller& caller) const { return world_.is_operator(caller); }
    bool may_touch(const Caller& caller, const Job& job) const {
        return world_.may_touch(caller, job);
    }
    std::optional<JobId> find_nonce(std::uint32_t uid, std::uint64_t nonce) const;
    void replace_spec(Job& job, const JobSpec& spec);
    JobSide& side(JobId id) { return sides_[id]; }
    JobSide* find_side(JobId id);
    std::vector<const Job*> find(const model::JobSelector& selector) const;
    std::optional<Instant> next_wakeup() const;

    // --- recovery.cpp: from records to the derived tables; reconfiguration
    void load(Records records);
    void take_record(Job record, std::vector<model::Step> steps, std::vector<JobId>& entangled);
    void review_each(const std::vector<JobId>& ids);
    void reset_tables();
    void rebuild();
    void index_job(const Job& job);
    void on(const event::Reconfigure& event);

    // --- submit.cpp, validate.cpp
    void on(const event::Submit& event);
    Status complete_spec(JobSpec& spec, std::vector<std::string>& notes) const;
    Status validate(const JobSpec& spec, const Caller& caller,
                    std::vector<std::string>& notes) const;
    void limit_memory(JobSpec& spec) const;
    Status check_dependency(const JobSpec& spec) const;
    // Why the partition as configured cannot hold it; none: it can.
    std::optional<model::Reason> limit_problem(const JobSpec& spec,
                                               const model::Partition& partition) const;
    void answer_test_only(const event::Submit& event, const JobSpec& spec,
                          std::vector<std::string> notes);
    bool answer_repeated(const event::Submit& event);
    JobId take_job_id();
    std::uint32_t base_priority(JobId id, const JobSpec& spec, bool privileged) const;
    void withdraw(Job& job);
    void withdraw_record(Job& job);

    // --- ownership.cpp: allocations and those who wait
    void on(const event::Attach& event);
    void on(const event::WaitForEnd& event);
    void on(const event::TokenGone& event);
    void on(const event::Release& event);
    void own(Token token, JobId job);
    void owner_left(Job& job, std::optional<model::ExitStatus> exit);
    void notify_owner(const Job& job, reply::OwnerNotice::Kind kind, const std::string& node = {});
    void answer_waiters(const Job& job);
    void drop_token(Token token, JobId job);

    // --- lifecycle.cpp: start, end, requeue of one run
    void start(Job& job, PartitionIndex partition, model::Allocation allocation, bool backfilled,
               const Terms& terms);
    void launch_batch(Job& job);
    void end_run(Job& job, model::Outcome outcome, EndCause cause, Seconds grace,
                 model::Completing::Next next, const std::set<std::string>& clean_already = {});
    void node_is_clean(Job& job, const std::string& node);
    void finish(Job& job);
    void finish_run(Job& job);
    void begin(Job& job);
    void leave_reservation(const Job& job, const std::string& reservation);
    void end_pending(Job& job, model::Outcome outcome);
    void stop_return(Job& job, const model::Outcome& outcome);
    void after_end(Job& job);
    void requeue_now(Job& job, bool hold, Seconds rest);
    void forget(JobId id);

    // --- site_programs.cpp: PrologSlurmctld and EpilogSlurmctld
    void on(const event::ProgramEnded& event);
    void prolog_failed(Job& job);
    void begin_if_ready(const Job& any);
    void stop_prolog(const Job& job, model::Running& run);
    void resume_program(const Job& job);

    // Short forms of what these owners do, for verbs that have no owner of their own yet.
    void claim(const Job& job) { holdings_.claim(job); }
    void release_on(const Job& job, const std::string& node) { holdings_.release_on(job, node); }
    void refresh_node(NodeIndex node) { holdings_.refresh_node(node); }
    void set_until(const Job& job) { holdings_.set_until(job); }
    Instant held_until(const Job& job) const { return holdings_.held_until(job); }
    void review(Job& job) { eligibility_.review(job); }
    void set_reason(Job& job, model::Reason reason, std::string detail = {}) {
        eligibility_.set_reason(job, reason, std::move(detail));
    }
    void unqueue(JobId id) { eligibility_.unqueue(id); }
    sched::QueueKey key_of(const Job& job, const model::Partition& partition) const {
        return eligibility_.key_of(job, partition);
    }

    void schedule(Instant at);

    // --- reservations.cpp, reservation_nodes.cpp: those of administrators: made, changed, deleted
    void on(const event::UpdateReservation& event);
    Status apply_times(model::Reservation& reservation, const model::ReservationUpdate& update,
                       bool fresh) const;
    Status apply_partitions(model::Reservation& reservation,
                            const model::NameListChange& change) const;
    Status apply_update(model::Reservation& reservation, const model::ReservationUpdate& update,
                        bool fresh) const;
    std::string reservation_name(const model::Reservation& reservation) const;
    Result<std::string> create_reservation(const model::ReservationUpdate& update);
    Status change_reservation(const model::ReservationUpdate& update);
    Status delete_reservation(const model::ReservationUpdate& update);
    void put_reservation(model::Reservation reservation);
    std::set<std::string> nodes_taken(const model::Reservation& reservation) const;
    std::vector<const model::Reservation*> rivals_of(const model::Reservation& reservation) const;
    bool holds_at_start(const model::Reservation& reservation, const sched::Holding& holding) const;
    bool held_at_start(const model::Reservation& reservation, NodeIndex node) const;
    struct Candidates {
        std::size_t fit = 0;
        std::vector<std::string> free;
    };
    Result<Candidates> candidates_for(const model::Reservation& reservation,
                                      const std::vector<std::string>& kept) const;
    Result<std::vector<std::string>> pick_nodes(const model::Reservation& reservation,
                                                std::uint32_t count,
                                                const std::vector<std::string>& kept) const;
    Result<std::vector<std::string>> all_nodes(const model::Reservation& reservation) const;
    Result<std::vector<std::string>> named_nodes(model::Reservation& reservation,
                                                 const std::vector<std::string>& names) const;
    void sort_nodes(std::vector<std::string>& names) const;
    void settle_partition(model::Reservation& reservation) const;
    Result<std::optional<std::vector<std::string>>> wanted_nodes(
        model::Reservation& reservation, const model::ReservationUpdate& update, bool fresh) const;
    Status settle_nodes(model::Reservation& reservation, const model::ReservationUpdate& update,
                        const model::Reservation* old) const;
    bool replenish(model::Reservation& reservation) const;

    // --- reservation_cores.cpp: those of some cores of their nodes
    std::optional<CoreOffer> offer_of(const model::Reservation& reservation, NodeIndex node) const;
    Result<std::vector<CoreOffer>> offers_for(const model::Reservation& reservation) const;
    Result<std::vector<CoreOffer>> named_offers(const model::Reservation& reservation) const;
    Status settle_cores(model::Reservation& reservation,
                        const model::ReservationUpdate& update) const;
    Status take_cores(model::Reservation& reservation, std::span<const CoreOffer> offers,
                      std::uint64_t cores, std::uint64_t of_each) const;
    bool replenish_cores(model::Reservation& reservation) const;

    // --- calendar.cpp: reservations in time
    std::vector<Occurrence> occurrences_of(const model::Reservation& reservation) const;
    void move_on(model::Reservation& reservation) const;
    void rebuild_calendar();
    void derive_calendar();
    std::vector<JobId> waiting_for(const std::string& reservation) const;
    void index_reservation(const Job& job);
    std::optional<std::set<std::uint32_t>> users_drawn_by(const model::Reservation& magnet) const;
    std::set<JobId> jobs_drawn_by(const model::Reservation& magnet) const;
    void set_windows();
    void review_calendar();
    void keep_to_nodes();
    void mark_nodes();
    void retime(const model::Reservation& reservation);
    bool is_wanted(const std::string& reservation) const;
    void reservation_timer(std::uint32_t id);
    void remove_reservation(const std::string& name);
    void reservation_used(const std::string& name);

    // --- reservation_jobs.cpp: what they mean to a job
    Status check_reservations(const JobSpec& spec, const Caller& caller) const;
    std::vector<sched::WindowOwner> owners_of(const JobSpec& spec) const;
    sched::Shape shape_for(const JobSpec& spec, PartitionIndex partition) const;
    const model::Reservation* find_reservation(sched::WindowOwner owner) const;
    std::optional<Instant> opens_at(const JobSpec& spec) const;
    std::optional<std::string> window_problem(const Job& job, const sched::Group& group) const;
    std::optional<Instant> end_of_run(const JobSpec& spec, const model::Running& run) const;
    void reset_end(Job& job);

    // --- licenses.cpp
    Status check_licenses(const JobSpec& spec) const;
    std::optional<std::vector<model::License>> find_licenses(
        const Job& job, sched::WindowOwner owner, const sched::LicenseLedger& ledger) const;
    std::optional<sched::LicenseLedger> with_licenses(const Job& job) const;
    bool has_licenses(const Job& job) const;
    model::LicenseRequest wanted_licenses(const Job& job) const;
    bool license_all(const std::vector<JobSpec>& specs) const;
    sched::QueueKey license_key_of(const Job& job) const;
    void wait_for_licenses(Job& job);
    void leave_license_line(JobId job);
    void call_license_line();
    void claim_licenses(const Job& job);
    void release_licenses(const Job& job);

    // --- arrays.cpp
    Job& split_element(Job& block, std::uint32_t element);
    Job& split_elements(Job& block, const model::IndexSet& elements);
    bool throttled(const Job& job) const;
    void array_run_began(const Job& job);
    void array_run_over(const Job& job);
    void review_throttled(const Job& job);
    std::vector<JobId> select(const model::JobSelector& selector, bool split);

    // --- het.cpp: heterogeneous jobs: several records that wait, start and end together
    bool is_follower(const Job& job) const { return job.het && job.het->offset > 0; }
    const Job& leader_of(const Job& job) const;
    std::vector<JobId> components_of(const Job& job) const;
    std::vector<JobId> live_components(const Job& leader) const;
    Status complete_components(const event::Submit& event, std::vector<JobSpec>& specs,
                               std::vector<std::string>& notes) const;
    Job& accept(JobSpec spec, const event::Submit& event, std::optional<model::HetPlace> het);
    bool review_follower(Job& job);
    std::optional<std::pair<model::Reason, std::string>> component_problem(const Job& leader) const;
    void end_companions(const Job& job, const model::Outcome& outcome, EndCause cause,
                        Seconds grace, model::Completing::Next next);
    void end_pending_companions(const Job& job, const model::Outcome& outcome);
    void end_orphans();
    void share_reason(const Job& leader);
    void check_component(const Job& job) const;
    Result<std::vector<StepPlan>> plan_parts(const event::CreateStep& event) const;

    // --- cron.cpp: jobs that come again (scrontab)
    void on(const event::Crontab& event);
    void retire_crontab(std::uint32_t uid);
    std::optional<Instant> next_run(const Job& job) const;

    // --- dependencies.cpp
    model::DependencyStatus judge(Job& job);
    model::DependencyStatus judge_term(const Job& job, const model::DependencyTerm& term,
                                       std::optional<Instant>& look_again) const;
    void index_dependency(const Job& job);
    void unindex_dependency(const Job& job);
    void wake_dependents(const Job& job);
    bool settle_correspondence(Job& job);
    std::vector<const Job*> targets_of(const model::DependencyTerm& term) const;
    bool has_unfinished_namesake_before(const Job& job) const;
    bool depends_on(const JobSpec& spec, JobId id, int depth = 0) const;

    // --- steps.cpp, step_layout.cpp
    void on(const event::CreateStep& event);
    StepTry try_step(const event::CreateStep& event, bool first_time);
    Result<std::vector<StepPlan>> plan_step(const event::CreateStep& event) const;
    Status may_step(const event::CreateStep& event) const;
    bool has_numbers_left(const event::CreateStep& event) const;
    Result<model::StepLayout> lay_out_step(const Job& job, const event::CreateStep& event) const;
    Result<std::string> reserve_ports(const model::StepSpec& spec,
                                      const model::StepLayout& layout) const;
    bool answer_repeated(const event::CreateStep& event);
    std::vector<StepKey> record_steps(const event::CreateStep& event);
    void begin_step(model::Step& step, StepPlan plan);
    void launch_step(const StepKey& key);
    void launch_on(const std::string& node, const StepKey& key);
    void on(const event::StepEnded& event);
    void on(const event::StepStarted& event);
    void on(const event::JobClean& event);
    void batch_ended(Job& job, const StepReport& report, const std::string& node);
    void step_node_ended(Job& job, model::Step& step, const std::string& node,
                         const StepReport& report);
    void close_steps_on(Job& job, const std::string& node);
    bool has_step_on(const Job& job, const std::string& node) const;
    void retry_waiting_steps(JobId job);
    model::ExitStatus worst_step_exit(const Job& job) const;

    // --- begun.cpp: scripts that have begun
    void script_began(Job& job);
    void write_begun();
    bool has_begun(const Job& job) const;
    bool speaks_for(const std::string& node, const Job& job) const;

    // --- restore.cpp: after a restored backup
    void begin_restoring();
    void end_restoring();
    bool is_of_backup(const Job& job) const;
    bool waits_for_journals(const Job& job) const;
    bool may_run_again(const Job& job) const;
    bool waits_for_nodes(const Job& job) const;
    void ghosts_left(NodeIndex node);
    void on(const event::NodeBegan& event);
    void settle_begun(Job& job, NodeIndex node, const event::NodeBegan::Script& script);
    Job* begun_job(NodeIndex node, const event::NodeBegan::Script& script);
    void launch_unbegun(NodeIndex node);

    // --- queued_steps.cpp
    void queue_step(const event::CreateStep& event);
    std::vector<StepKey> parts_of(const StepKey& key) const;
    event::CreateStep queued_request(const std::vector<StepKey>& parts) const;
    StepTry try_queued(const StepKey& key);
    void end_queued(const StepKey& key, model::JobState state);
    void waits_no_more(const StepKey& key);
    void refuse_waiting_steps(const Job& job);
    void check_queued_steps() const;

    // --- cancel.cpp
    void on(const event::Signal& event);
    void cancel(Job& job, const Caller& caller, Seconds grace);
    void signal_running(const Job& job, const event::Signal& event, std::optional<StepId> step);
    bool matches(const Job& job, const JobFilter& filter) const;
    std::vector<JobId> candidates(const event::Signal& event) const;
    void comment_on(JobId id, const std::string& admin_comment);
    std::optional<Errc> signal_one(JobId id, const event::Signal& event,
                                   std::optional<StepId> step);

    // --- hold.cpp, requeue.cpp, suspend.cpp, update_job.cpp
    void on(const event::Hold& event);
    void on(const event::Top& event);
    void on(const event::Requeue& event);
    std::optional<Errc> requeue_one(Job& job, const event::Requeue& event);
    void index_again(Job& job);
    void on(const event::Suspend& event);
    void freeze(Job& job);
    void thaw(Job& job);
    void tell_frozen(Job& job, bool frozen);
    void on(const event::UpdateJob& event);
    void throttle_array(JobId array, std::uint32_t throttle);
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

    // --- nodes.cpp, reconcile.cpp, update_node.cpp, update_partition.cpp
    void on(const event::NodeUp& event);
    void on(const event::NodeLost& event);
    void on(const event::NodeLoad& event);
    void on(const event::ScriptFailed& event);
    void prepare_nodes(const Job& job);
    void drain_for(NodeIndex node, const std::string& problem);
    void on(const event::GpuIdle& event);  // idle_gpus.cpp
    void idle_gpus(Job& job);
    void adopt_facts(NodeIndex node, const model::NodeFacts& facts);
    void reconcile(NodeIndex node, const std::vector<StepKey>& listed);
    void reconcile_job(Job& job, const std::string& node, const std::set<StepKey>& listed,
                       bool rebooted);
    void number_beyond(Job& job, StepId step);
    void node_down(NodeIndex node, const std::string& reason, const std::string& by);
    void node_failed_job(Job& job, const std::string& node);
    void node_timer(NodeIndex node);
    void on(const event::UpdateNode& event);
    Status check_node_update(const model::NodeUpdate& update,
                             const std::vector<NodeIndex>& named) const;
    void describe_node(NodeIndex index, std::size_t place, const model::NodeUpdate& update);
    void plan_resumption(NodeIndex index, const model::NodeUpdate& update);
    void resume_timer(NodeIndex index);
    void set_node_state(NodeIndex node, const model::NodeUpdate& update, const std::string& by);
    void on(const event::UpdatePartition& event);
    void write_partition(const model::Partition& partition);

    // --- reboot.cpp
    void on(const event::Reboot& event);
    void cancel_reboot(model::Node& node);
    void reboot_if_idle(NodeIndex node);
    void reboot_done(NodeIndex node, Instant booted);
    void reboot_timer(NodeIndex node);
    void resume_reboots();
    void node_changed(NodeIndex node);

    // --- triggers.cpp, trigger_events.cpp
    void on(const event::SetTriggers& event);
    void on(const event::ClearTriggers& event);
    Status check_trigger(const model::Trigger& trigger, const Caller& caller) const;
    void drop_trigger(std::uint32_t id);
    void look_at_node(NodeIndex node);
    void look_at_all_nodes();
    void resume_triggers();
    void node_event(NodeIndex node, model::TriggerType type);
    void cluster_event(model::TriggerType type, const std::string& argument);
    void trigger_job_end(JobId job);
    void retime_triggers(JobId job);
    void retime_trigger(const model::Trigger& trigger);
    std::optional<Instant> trigger_due(const model::Trigger& trigger) const;
    std::vector<std::string> idle_nodes(const model::Trigger& trigger) const;
    bool concerns(const model::Trigger& trigger, const std::string& node) const;
    void trigger_timer(std::uint32_t id);
    void fire_triggers();
    void run_trigger(model::Trigger& trigger, std::string argument);

    // --- step_watch.cpp: notify, swait
    void on(const event::Notify& event);
    void on(const event::WaitForSteps& event);
    void tell_watchers(const Job& job, const StepKey& ended);
    void release_watchers(JobId job);

    // --- ticking.cpp: what is due, and what is due for ever
    void on(const event::Tick& event);
    void fire(TimerKey key);
    void timer_stalls(TimerKey key, Seconds rest);
    void count_pass();

    // --- timing.cpp
    void retime(const Job& job);
    std::optional<Instant> due(const Job& job) const;
    void job_timer(Job& job);
    void running_timer(Job& job);
    void give_up_doubted(JobId id);
    std::optional<Instant> deadline_of(const Job& job) const;

    // --- mail.cpp
    struct CardEffort {
        std::uint64_t percent = 0;
        model::MiB memory;
    };
    std::optional<CardEffort> card_effort(const Job& job) const;
    void mail(const Job& job, model::MailEvent event);
    void mail_end(const Job& job);

    // --- invariants.cpp
    void check_invariants() const;
    void check_set_aside() const;

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

    Holdings holdings_{world_, planning_, *this};
    Planning planning_{world_, holdings_, *this};
    Eligibility eligibility_{world_, planning_, *this};

    // Records.
    std::set<std::string> runtime_partitions_, deleted_partitions_;
    JobId next_job_id_{1};
    std::map<std::string, model::Reservation> calendar_;  // Made by administrators, by name.
    std::uint32_t next_reservation_id_ = 1;

    // Derived.
    std::vector<NodeSide> node_sides_;
    std::map<JobId, JobSide> sides_;
    std::map<JobId, ArraySide> arrays_;
    std::map<JobId, std::set<JobId>> hets_;  // Records of each heterogeneous job, by its leader.
    PackedSet<Nonce> nonces_;
    std::map<Token, TokenRole> tokens_;
    std::map<JobId, std::vector<Token>> waiters_;  // By job, or by array.
    std::map<JobId, std::set<JobId>> dependents_;  // By job or array named in a dependency.
    NameIndex unfinished_names_;                   // Jobs that have not ended, by user and name.
    std::map<std::pair<std::uint32_t, std::string>, std::set<JobId>>
        singletons_;                                  // Those that wait.
    std::map<std::string, std::set<JobId>> runs_in_;  // Jobs that run in each of the calendar.
    bool calendar_is_stale_ = false;                  // Nodes came or went.
    std::set<JobId> naming_;  // Jobs, in any phase, that name a reservation.
    std::map<sched::WindowOwner, model::Reservation> magnets_;  // Those that draw jobs now.
    // Who has ever submitted for an account, or as member of a group.
    std::map<std::string, std::set<std::uint32_t>> users_of_account_, users_of_group_;
    sched::LicenseLedger licenses_;
    std::set<sched::QueueKey> license_line_;           // Those who wait for licenses,
    std::map<JobId, sched::QueueKey> license_places_;  // and where each stands.
    Timers timers_;
    std::set<JobId> begun_unwritten_;  // Seen to begin, and perhaps not on disk yet.
    // The records are a backup from before this; jobs with lower numbers were in it.
    std::optional<Instant> restored_at_;
    JobId restored_before_{0};
    bool restoring_ = false;  // Jobs of the backup wait for what nodes have to say.
    TimerPatience timer_patience_;
    PassPatience pass_patience_;
    std::optional<Instant> passes_rest_until_;
    TriggerTable triggers_;
    std::size_t unfinished_ = 0;
};

}  // namespace switchyard::core
