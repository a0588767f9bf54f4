// het.cpp: heterogeneous jobs. Each component is a record of its own, with needs and nodes of its
// own; the first, the leader, has the script (or the owner) and stands in the queue for all. They
// start in one step or not at all, and whatever ends one run ends all of them; only a cancelled
// follower goes alone.

#include <algorithm>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"
#include "core/sched/placement.hpp"

namespace switchyard::core {
namespace {

using model::Reason;

// A common start is looked for so many times; each try costs a plan for every component.
constexpr int kPlanTriesMax = 8;

Seconds limit_of(const JobSpec& spec) {
    const bool limited = spec.time_limit && !spec.time_limit->unlimited;
    return limited ? spec.time_limit->seconds : sched::kForever;
}

}  // namespace

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
        SY_CHECK(complete_spec(spec, notes));
        limit_memory(spec);
        SY_CHECK(validate(spec, event.caller, notes));
    }
    return {};
}

// A follower is never in the queue itself: what changes about it is a matter of its leader's.
bool Cluster::Impl::review_follower(Job& job) {
    if (!is_follower(job)) return false;
    retime(job);
    Job* leader = find_job(job.het->leader);
    if (leader != nullptr) review(*leader);
    return true;
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
    }
    return std::nullopt;
}

// The leader stands in every partition that one of them may use, so that room anywhere wakes it;
// with the needs of the component that is content with least.
void Cluster::Impl::queue_components(const Job& leader) {
    std::map<PartitionIndex, sched::Shape> shapes;
    for (const JobId id : live_components(leader)) {
        const JobSpec& spec = *jobs_.at(id).spec;
        for (const std::string& name : spec.partitions) {
            const auto index = partition_index(name);
            if (!index) continue;
            sched::Shape shape = shape_for(spec, *index);
            shape.only_job = leader.id.value;
            const std::uint32_t cpus = sched::make_demand(shape, pool_).cpus_min;
            const auto known = shapes.find(*index);
            if (known == shapes.end() || cpus < sched::make_demand(known->second, pool_).cpus_min)
                shapes.insert_or_assign(*index, std::move(shape));
        }
    }
    preempt_is_stale_ = true;
    for (auto& [index, shape] : shapes) {
        queue_.add(key_of(leader, partitions_[index]), index, shape, limit_of(*leader.spec), pool_);
    }
}

// Where one component fits now, beside those that are already claimed for.
std::optional<PartitionIndex> Cluster::Impl::place_component(const Job& job, sched::QueueKey key,
                                                             model::Allocation& allocation,
                                                             Terms& terms) const {
    sched::View view{
        .start = now_, .end = now_ + limit_of(*job.spec), .key = key, .uid = job.spec->uid};
    for (const std::string& name : job.spec->partitions) {
        const auto index = partition_index(name);
        if (!index || limit_problem(*job.spec, partitions_[*index])) continue;
        const sched::Demand demand = sched::make_demand(shape_for(*job.spec, *index), pool_);
        for (const sched::WindowOwner owner : sched::owners_of(demand.shape)) {
            view.owner = owner;
            const auto picks = sched::place(pool_, *index, demand, view);
            const auto licenses = find_licenses(job, owner);
            if (!picks || !licenses) continue;
            if (auto found = sched::make_allocation(pool_, demand, *picks)) {
                allocation = *std::move(found);
                terms = {owner, *licenses};
                return index;
            }
        }
    }
    return std::nullopt;
}

// Where all of them fit now, each beside the others.
std::optional<std::vector<FoundPlace>> Cluster::Impl::find_together(const Job& leader,
                                                                    sched::QueueKey key) {
    std::vector<FoundPlace> found;
    std::vector<std::pair<NodeIndex, JobId>> claimed;
    const std::vector<JobId> ids = live_components(leader);
    for (const JobId id : ids) {
        const Job& job = jobs_.at(id);
        FoundPlace place{id, 0, {}, {}};
        const auto partition = place_component(job, key, place.allocation, place.terms);
        if (!partition) break;
        place.partition = *partition;
        licenses_.claim(id, place.terms.licenses, now_ + limit_of(*job.spec), place.terms.owner);
        const sched::Shape shape = sched::shape_of(*job.spec, partitions_[*partition], settings_);
        for (const model::NodeGrant& grant : place.allocation.nodes) {
            sched::Holding holding;
            holding.job = id;
            holding.until = now_ + limit_of(*job.spec);
            holding.uid = job.spec->uid;
            holding.grant = grant;
            holding.whole = shape.whole_nodes;
            holding.share = shape.share;
            holding.single_user = shape.single_user;
            const NodeIndex node = *node_index(grant.node);
            pool_.claim(node, std::move(holding));
            claimed.emplace_back(node, id);
        }
        found.push_back(std::move(place));
    }
    // Only a trial: what starts claims for itself.
    for (const auto& [node, id] : claimed) pool_.release(node, id);
    for (const FoundPlace& each : found) licenses_.release(each.job);
    if (found.size() < ids.size()) return std::nullopt;
    return found;
}

bool Cluster::Impl::try_start_all(const Job& leader, sched::QueueKey key, bool backfilled) {
    auto found = find_together(leader, key);
    if (!found) return false;
    for (FoundPlace& each : *found)
        start(jobs_.at(each.job), each.partition, std::move(each.allocation), backfilled,
              each.terms);
    return true;
}

void Cluster::Impl::keep_place(JobId job, sched::QueueKey key, const sched::Demand& demand,
                               const sched::Planned& planned, Seconds limit,
                               KeptPlace& reservation) {
    for (const sched::Pick& pick : planned.picks) {
        sched::Reserved reserved;
        reserved.key = key;
        reserved.job = job;
        reserved.from = planned.start;
        reserved.until = planned.start + limit;
        reserved.room = sched::planned_room(pool_, demand, pick);
        reserved.whole = demand.shape.whole_nodes;
        pool_.reserve(pick.node, std::move(reserved));
        reservation.planned.picks.push_back(pick);
    }
}

// Places kept for all of them from one moment on: the first at which each has one beside the
// others.
bool Cluster::Impl::reserve_all(const Job& leader, sched::QueueKey key) {
    const std::vector<JobId> ids = live_components(leader);
    Instant start = now_;
    for (int tries = 0; tries < kPlanTriesMax; ++tries) {
        const Instant wanted = start;
        KeptPlace reservation{key, 0, {wanted, {}, sched::kNobody}};
        const auto drop = [&] {
            for (const sched::Pick& pick : reservation.planned.picks)
                pool_.drop_reservation(pick.node, leader.id);
        };
        for (const JobId id : ids) {
            const JobSpec& spec = *jobs_.at(id).spec;
            const auto index = partition_index(spec.partitions.front());
            if (!index) break;
            const sched::Demand demand = sched::make_demand(shape_for(spec, *index), pool_);
            // Behind its sisters, before everybody whom the leader is before.
            sched::QueueKey own = key;
            own.job = id;
            sched::Planner planner(pool_, pool_.reservations(), now_, {.from = wanted});
            const auto planned = planner.plan(0, *index, demand, limit_of(spec), own);
            if (!planned) {
                drop();
                return false;
            }
            start = std::max(start, planned->start);
            keep_place(leader.id, own, demand, *planned, limit_of(spec), reservation);
        }
        const bool agreed = start == wanted;
        if (agreed && start > now_) {
            auto& pending = std::get<model::Pending>(jobs_.at(leader.id).phase);
            if (start < now_ + sched::kForever / 2) pending.planned_start = start;
            reservations_.insert_or_assign(leader.id, std::move(reservation));
            return true;
        }
        drop();
        if (agreed) return true;
    }
    return false;
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
        if (id != job.id && std::holds_alternative<model::Pending>(other.phase))
            end_pending(other, outcome);
    }
}

void Cluster::Impl::share_reason(const Job& leader) {
    const model::Pending from = std::get<model::Pending>(leader.phase);
    for (const JobId id : components_of(leader)) {
        auto* pending = std::get_if<model::Pending>(&jobs_.at(id).phase);
        if (id == leader.id || pending == nullptr) continue;
        pending->reason = from.reason;
        pending->detail = from.detail;
    }
}

// Part of check_invariants().
void Cluster::Impl::check_component(const Job& job) const {
    SY_ASSERT(hets_.at(job.het->leader).contains(job.id));
    SY_ASSERT(!is_follower(job) || !queue_.contains(job.id));
    // What runs was started with its leader, and no leader runs while one of them waits.
    const Job& leader = leader_of(job);
    const auto runs = [](const Job& one) {
        return std::holds_alternative<model::Running>(one.phase);
    };
    if (runs(job) && runs(leader)) SY_ASSERT(model::start_of(job) == model::start_of(leader));
    SY_ASSERT(!runs(leader) || !std::holds_alternative<model::Pending>(job.phase));
}

// One srun in several components: every part is laid out before the first is made.
Cluster::Impl::StepTry Cluster::Impl::try_parts(const event::CreateStep& event) {
    std::vector<event::CreateStep> parts;
    parts.push_back(event);
    parts.back().more.clear();
    for (const event::CreateStep::Part& part : event.more) {
        parts.push_back(parts.front());
        parts.back().job = part.job;
        parts.back().spec = part.spec;
    }
    const auto refused = [&](Errc code) {
        refuse(event.token, code);
        return StepTry::Refused;
    };
    std::vector<model::StepLayout> layouts;
    std::uint32_t number = 0, tasks = 0, nodes = 0;
    for (const event::CreateStep& part : parts) {
        const Job* job = find_job(part.job);
        if (job == nullptr || !job->het || job->het->leader != leader_of(jobs_.at(event.job)).id)
            return refused(Errc::InvalidJobId);
        if (!may_touch(event.caller, *job)) return refused(Errc::AccessDenied);
        if (std::holds_alternative<model::Pending>(job->phase)) return refused(Errc::JobPending);
        if (std::holds_alternative<model::Suspended>(job->phase)) return StepTry::Busy;
        if (!std::holds_alternative<model::Running>(job->phase)) return refused(Errc::JobFinished);
        if (is_configuring(*job)) return StepTry::Busy;
        auto layout = lay_out_step(*job, part);
        if (!layout) {
            if (layout.error().code == Errc::NodesBusy) return StepTry::Busy;
            reply(event.token, reply::Failed{layout.error(), {}});
            return StepTry::Refused;
        }
        number = std::max(number, job->next_step);
        tasks += layout->task_count();
        nodes += static_cast<std::uint32_t>(layout->nodes.size());
        layouts.push_back(*std::move(layout));
    }
    reply::StepMade made;
    model::HetStep place{0, tasks, 0, nodes};
    std::vector<StepKey> keys;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Job& job = jobs_.at(parts[i].job);
        job.next_step = number;
        const auto tasks_here = layouts[i].task_count();
        const auto nodes_here = static_cast<std::uint32_t>(layouts[i].nodes.size());
        keys.push_back(make_step(job, parts[i], std::move(layouts[i]), {}, place));
        place.task_offset += tasks_here;
        place.node_offset += nodes_here;
    }
    made.key = keys.front();
    made.more.assign(keys.begin() + 1, keys.end());
    reply(event.token, std::move(made));
    for (const StepKey& key : keys) launch_step(key);
    return StepTry::Made;
}

}  // namespace switchyard::core
