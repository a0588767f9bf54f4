// submit.cpp: a job arrives. Its record and its id are in the same step, so they become durable
// together.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/partition_limits.hpp"
#include "core/sched/placement.hpp"

namespace switchyard::core {
namespace {

// Where "no start in sight" lies: the answer still has to be a date.
constexpr Seconds kNeverSeen = sched::kForever;

model::ArrayPlace array_place(JobId id, const model::ArraySpec& spec) {
    model::ArrayPlace place;
    place.array_id = id;
    place.pending = spec.elements;
    place.throttle = spec.throttle;
    place.count = static_cast<std::uint32_t>(spec.elements.size());
    place.min = spec.elements.front();
    place.max = spec.elements.back();
    place.step = spec.step;
    return place;
}

}  // namespace

// A submission that is already here, told again because its answer was lost: true if it was one.
bool Cluster::Impl::answer_repeated(const event::Submit& event) {
    if (event.nonce == 0 || event.test_only) return false;
    const auto known = nonces_.find(event.caller.uid, event.nonce);
    if (!known) return false;
    const Job& job = jobs_.at(*known);
    const bool waits_on = job.spec->kind == model::JobKind::Allocation && !model::is_finished(job);
    reply(event.token, reply::Submitted{job.id, {}}, !waits_on);
    if (!waits_on) return true;
    waiters_.own(event.token, job.id);
    if (!std::holds_alternative<model::Pending>(job.phase)) {
        reply(event.token, reply::Granted{job.id}, job.spec->detached);
    }
    return true;
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
        tidy(spec, rights_of(event.caller).may_raise_priority());
        SY_CHECK(check_texts(spec));
        SY_CHECK(check_values(spec));
        SY_CHECK(complete_spec(spec, notes));
        limit_memory(spec);
        SY_CHECK(validate(spec, event.caller, notes));
    }
    return het ? planning_.het.check(specs) : Status();
}

// A record for one job, or one component, of an accepted submission.
Job& Cluster::Impl::accept(JobSpec spec, const event::Submit& event,
                           std::optional<model::HetPlace> het) {
    Job job;
    job.id = world_.take_job_id();
    job.het = het;
    if (job.het && job.het->offset == 0) job.het->leader = job.id;
    if (spec.array) job.array = array_place(job.id, *spec.array);
    job.partition = spec.partitions.front();
    job.submitted = now_;
    if (!is_follower(job)) job.nonce = event.nonce;
    job.priority = base_priority(het && het->offset > 0 ? het->leader : job.id, spec,
                                 rights_of(event.caller).may_raise_priority());
    model::Pending pending;
    pending.eligible_at = std::max(now_, spec.begin.value_or(now_));
    if (spec.hold || job.priority == 0) {
        pending.hold = model::Hold::User;
        job.priority = 0;
    }
    job.phase = pending;
    job.spec = std::make_shared<const JobSpec>(std::move(spec));
    Job& kept = jobs_.add(std::move(job));
    touch(kept);
    tell({kept, Phase::None, Phase::Pending, Cause::Submitted});
    return kept;
}

void Cluster::Impl::on(const event::Submit& event) {
    if (answer_repeated(event)) return;
    std::vector<JobSpec> specs;
    std::vector<std::string> notes;
    Status status = complete_components(event, specs, notes);
    if (status && counts_.unfinished() + specs.size() > settings_.max_job_count)
        status = fail(Errc::TooManyJobs);
    // Slurm, asked when a job would start, says that it never will and not why.
    if (!status && event.test_only && status.error().code == Errc::NodeConfigUnavailable)
        notes.clear();
    if (!status) return reply(event.token, reply::Failed{status.error(), std::move(notes)});
    if (event.test_only) return answer_test_only(event, specs.front(), std::move(notes));

    const auto size = static_cast<std::uint32_t>(specs.size());
    std::optional<model::HetPlace> het;
    if (size > 1) het = model::HetPlace{JobId{0}, 0, size};
    Job& kept = accept(std::move(specs.front()), event, het);
    for (std::uint32_t offset = 1; offset < size; ++offset)
        job_timers_.retime(
            accept(std::move(specs[offset]), event, model::HetPlace{kept.id, offset, size}));
    const bool waits_on = kept.spec->kind == model::JobKind::Allocation;
    if (waits_on) {
        timers_.set({TimerKey::Kind::Owner, kept.id.value}, std::nullopt);
        if (event.token.value != 0) waiters_.own(event.token, kept.id);
        const model::Partition& partition = *partition_of(kept);
        if (limit_problem(world_, *kept.spec, partition) ||
            partition.state == model::PartitionState::Down ||
            partition.state == model::PartitionState::Inactive) {
            notes.push_back(std::string(errc_text(Errc::PartitionUnavailable)));
        }
    }
    const JobId id = kept.id;
    if (kept.spec->immediate) {
        const std::size_t effects_before = world_.effects.size();
        reply(event.token, reply::Submitted{id, std::move(notes)}, !waits_on);
        review(kept);
        schedule(now_);
        Job& tried = jobs_.at(id);
        if (!std::holds_alternative<model::Pending>(tried.phase)) return;
        // It could not start at once, so it was never there.
        world_.effects.erase(world_.effects.begin() + static_cast<std::ptrdiff_t>(effects_before));
        withdraw(tried);
        return refuse(event.token, Errc::ImmediateFailed);
    }
    reply(event.token, reply::Submitted{id, std::move(notes)}, !waits_on);
    review(kept);
}

// Takes a job that was accepted in this very step out again, without a trace.
void Cluster::Impl::withdraw(Job& job) {
    const std::vector<JobId> ids = hets_.components_of(job);
    for (const JobId id : ids) withdraw_record(jobs_.at(id));
}

void Cluster::Impl::withdraw_record(Job& job) {
    const JobId id = job.id;
    unqueue(id);
    planning_.backfill.drop(id);
    tell({job, Phase::Pending, Phase::None, Cause::Withdrawn});
    jobs_.erase(id);
    changes_.jobs.erase(id);
}

void Cluster::Impl::answer_test_only(const event::Submit& event, const JobSpec& spec,
                                     std::vector<std::string> notes) {
    std::optional<sched::Planned> best;
    PartitionIndex where = *partition_index(spec.partitions.front());
    for (const std::string& name : spec.partitions) {
        const PartitionIndex index = *partition_index(name);
        if (limit_problem(world_, spec, partitions_[index])) continue;
        const sched::Demand demand = sched::make_demand(calendar_.shape_for(spec, index), pool_);
        sched::Planner planner(pool_, pool_.reservations(), now_,
                               {.from = spec.begin.value_or(now_)});
        auto planned = planner.plan(0, index, demand, limit_of(spec), sched::kLastKey);
        if (!planned) {
            const sched::View idle{.empty = true, .every_node = true};
            if (auto picks = sched::place(pool_, index, demand, idle)) {
                planned = sched::Planned{now_ + kNeverSeen, std::move(*picks)};
            }
        }
        if (planned && (!best || planned->start < best->start)) {
            best = std::move(planned);
            where = index;
        }
    }
    if (!best) return refuse(event.token, Errc::NodeConfigUnavailable, std::move(notes));
    reply::WouldStart answer{world_.next_job_id, best->start, 0, {}, partitions_[where].name};
    const sched::Demand demand =
        sched::make_demand(sched::shape_of(spec, partitions_[where], settings_), pool_);
    for (const sched::Pick& pick : best->picks) {
        const sched::NodeEntry& node = pool_.node(pick.node);
        answer.cpus += sched::planned_room(pool_, demand, pick).cores * node.threads;
        answer.nodes.push_back(node.name);
    }
    reply(event.token, std::move(answer));
}

}  // namespace switchyard::core
