// het.cpp: heterogeneous jobs. Each component is a record of its own, with needs and nodes of its
// own; the first, the leader, has the script (or the owner) and stands in the queue for all. They
// start in one step or not at all, and whatever ends one run ends all of them; only a cancelled
// follower goes alone.

#include <algorithm>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

using model::Reason;

const Job& Cluster::Impl::leader_of(const Job& job) const {
    const Job* leader = is_follower(job) ? find_job(job.het->leader) : nullptr;
    return leader != nullptr ? *leader : job;
}

std::vector<JobId> Cluster::Impl::components_of(const Job& job) const {
    const auto found = job.het ? hets_.find(job.het->leader) : hets_.end();
    if (found == hets_.end()) return {job.id};
    return {found->second.begin(), found->second.end()};
}

// Those that are not over: a cancelled follower does not come back.
std::vector<JobId> Cluster::Impl::live_components(const Job& leader) const {
    std::vector<JobId> ids = components_of(leader);
    std::erase_if(ids, [&](JobId id) { return model::is_finished(jobs_.at(id)); });
    return ids;
}

// All specifications of a submission, checked: one bad component refuses all.
Status Cluster::Impl::complete_components(const event::Submit& event, std::vector<JobSpec>& specs,
                                          std::vector<std::string>& notes) const {
    if (event.components.size() >= limits::kHetComponentsMax)
        return fail(Errc::InvalidArgument,
                    fmt::format("a heterogeneous job has at most {} components",
                                limits::kHetComponentsMax));
    specs.push_back(event.spec);
    specs.insert(specs.end(), event.components.begin(), event.components.end());
    const bool het = specs.size() > 1;
    for (JobSpec& spec : specs) {
        spec.uid = event.caller.uid;
        spec.gid = event.caller.gid;
        if (het && spec.array) return fail(Errc::InvalidArray);
        if (&spec != &specs.front()) {
            // What the leader waits for they wait for with it, and nobody else owns them.
            spec.kind = model::JobKind::Allocation;
            spec.detached = true;
            spec.dependency = {};
            spec.deadline.reset();
            spec.immediate = false;
        }
        tidy(spec, is_operator(event.caller));
        SY_CHECK(check_texts(spec));
        SY_CHECK(check_values(spec));
        SY_CHECK(complete_spec(spec, notes));
        limit_memory(spec);
        SY_CHECK(validate(spec, event.caller, notes));
    }
    return het ? planning_.het.check(specs) : Status();
}

// A follower is never in the queue itself: what changes about it is a matter of its leader's.
bool Cluster::Impl::review_follower(Job& job) {
    if (!is_follower(job)) return false;
    Job* leader = find_job(job.het->leader);
    if (leader == nullptr || model::is_finished(*leader)) {
        // Nobody will start it. What became of the leader, if that is known, becomes of it.
        const model::Outcome* end = leader != nullptr ? model::outcome_of(*leader) : nullptr;
        end_pending(job,
                    outcome_without_exit(end != nullptr ? end->state : model::JobState::Cancelled,
                                         end != nullptr ? end->reason : Reason::None));
        return true;
    }
    retime(job);
    review(*leader);
    return true;
}

// Components that run and whose leader's record is gone: nobody will say when they are over.
void Cluster::Impl::end_orphans() {
    std::vector<JobId> orphans;
    for (const auto& [leader, parts] : hets_) {
        if (!jobs_.contains(leader)) orphans.insert(orphans.end(), parts.begin(), parts.end());
    }
    for (const JobId id : orphans) {
        Job& job = jobs_.at(id);
        const bool runs = std::holds_alternative<model::Running>(job.phase) ||
                          std::holds_alternative<model::Suspended>(job.phase);
        if (!runs) continue;
        end_run(job, outcome_without_exit(model::JobState::Cancelled, Reason::None),
                EndCause::Cancelled, settings_.kill_wait, model::Completing::Next::End);
    }
}

// Why the followers keep their leader out of the queue; none: they do not.
std::optional<std::pair<Reason, std::string>> Cluster::Impl::component_problem(
    const Job& leader) const {
    if (!leader.het) return std::nullopt;
    for (const JobId id : live_components(leader)) {
        const Job& job = jobs_.at(id);
        const auto* pending = std::get_if<model::Pending>(&job.phase);
        // Its last run is not over everywhere.
        if (pending == nullptr) return std::pair(Reason::BeginTime, std::string());
        if (pending->hold != model::Hold::None || job.priority == 0) {
            const bool user = pending->hold == model::Hold::User;
            return std::pair(user ? Reason::JobHeldUser : Reason::JobHeldAdmin, std::string());
        }
        if (pending->eligible_at > now_) return std::pair(Reason::BeginTime, std::string());
        std::optional<Reason> problem;
        bool open = false;
        for (const std::string& name : job.spec->partitions) {
            const auto index = partition_index(name);
            if (!index) continue;
            const model::Partition& partition = partitions_[*index];
            const auto limit = limit_problem(*job.spec, partition);
            const bool up = partition.state == model::PartitionState::Up ||
                            partition.state == model::PartitionState::Drain;
            open |= up && !limit;
            if (!problem) problem = up ? limit : Reason::PartitionDown;
        }
        if (!open) return std::pair(problem.value_or(Reason::PartitionDown), std::string());
        if (is_follower(job) && opens_at(*job.spec))
            return std::pair(Reason::Reservation, std::string());
    }
    return std::nullopt;
}

// The others' runs end as this one does. A follower that was cancelled goes alone.
void Cluster::Impl::end_companions(const Job& job, const model::Outcome& outcome, EndCause cause,
                                   Seconds grace, model::Completing::Next next) {
    if (is_follower(job) && outcome.state == model::JobState::Cancelled &&
        next == model::Completing::Next::End)
        return;
    for (const JobId id : components_of(job)) {
        Job& other = jobs_.at(id);
        const bool runs = std::holds_alternative<model::Running>(other.phase) ||
                          std::holds_alternative<model::Suspended>(other.phase);
        if (id != job.id && runs) end_run(other, outcome, cause, grace, next);
    }
}

void Cluster::Impl::end_pending_companions(const Job& job, const model::Outcome& outcome) {
    for (const JobId id : components_of(job)) {
        Job& other = jobs_.at(id);
        if (id == job.id) continue;
        if (std::holds_alternative<model::Pending>(other.phase)) {
            end_pending(other, outcome);
        } else {
            stop_return(other, outcome);
        }
    }
}

void Cluster::Impl::share_reason(const Job& leader) {
    const model::Pending from = std::get<model::Pending>(leader.phase);
    for (const JobId id : components_of(leader)) {
        auto* pending = std::get_if<model::Pending>(&jobs_.at(id).phase);
        if (id == leader.id || pending == nullptr) continue;
        pending->reason = from.reason;
        pending->detail = from.detail;
        pending->planned_start = from.planned_start;
        if (!from.planned_start) pending->planned_nodes.clear();
    }
}

// Part of check_invariants().
void Cluster::Impl::check_component(const Job& job) const {
    SY_ASSERT(hets_.at(job.het->leader).contains(job.id));
    SY_ASSERT(!is_follower(job) || !planning_.queue.contains(job.id));
    // What runs was started with its leader, and no leader runs while one of them waits.
    const Job& leader = leader_of(job);
    const auto runs = [](const Job& one) {
        return std::holds_alternative<model::Running>(one.phase);
    };
    if (runs(job) && runs(leader)) SY_ASSERT(model::start_of(job) == model::start_of(leader));
    SY_ASSERT(!runs(leader) || !std::holds_alternative<model::Pending>(job.phase));
}

// One srun in several components: every part is laid out before the first is made.
Result<std::vector<Cluster::Impl::StepPlan>> Cluster::Impl::plan_parts(
    const event::CreateStep& event) const {
    std::vector<event::CreateStep> parts{event};
    parts.back().more.clear();
    for (const event::CreateStep::Part& part : event.more) {
        parts.push_back(parts.front());
        parts.back().job = part.job;
        parts.back().spec = part.spec;
    }
    const JobId leader = leader_of(jobs_.at(event.job)).id;
    // What is wrong with one of them is told before any is found busy: it may be queued then.
    for (const event::CreateStep& part : parts) {
        const Job* job = find_job(part.job);
        if (job == nullptr || !job->het || job->het->leader != leader)
            return fail(Errc::InvalidJobId);
        const Status may = may_step(part);
        if (!may && may.error().code != Errc::NodesBusy) return Failure{may.error()};
    }
    std::vector<StepPlan> plans;
    model::HetStep place;
    for (const event::CreateStep& part : parts) {
        SY_CHECK(may_step(part));
        StepPlan plan;
        SY_TRY(plan.layout, lay_out_step(jobs_.at(part.job), part));
        place.tasks += plan.layout.task_count();
        place.nodes += static_cast<std::uint32_t>(plan.layout.nodes.size());
        plans.push_back(std::move(plan));
    }
    for (StepPlan& plan : plans) {
        plan.het = place;
        place.task_offset += plan.layout.task_count();
        place.node_offset += static_cast<std::uint32_t>(plan.layout.nodes.size());
    }
    return plans;
}

}  // namespace switchyard::core
