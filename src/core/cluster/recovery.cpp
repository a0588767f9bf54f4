// recovery.cpp: from records to the derived tables, at start and after a reconfiguration.

#include <algorithm>
#include <utility>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

model::Node fresh_node(const model::NodeConfig& config, Instant now) {
    model::Node node;
    node.config = config;
    using Start = model::NodeConfig::Start;
    if (config.start == Start::Down) node.down = true;
    if (config.start == Start::Drain) node.drain = true;
    if (node.down || node.drain) {
        node.mark = model::NodeMark{
            config.reason.empty() ? "set in the configuration" : config.reason, "root", now};
    }
    return node;
}

// What people decided about a node, and what its agent said, outlives a restart; what the
// configuration says comes from the configuration.
void restore(model::Node& node, const model::Node& record) {
    node.facts = record.facts;
    if (node.facts) fill_from_facts(node.config, !node.config.gres.empty(), *node.facts);
    node.down = record.down;
    node.drain = record.drain;
    node.mark = record.mark;
    node.reboot = record.reboot;
    node.last_busy = record.last_busy;
    node.comment = record.comment;
    node.extra = record.extra;
    node.instance_id = record.instance_id;
    node.instance_type = record.instance_type;
    node.resume_at = record.resume_at;
}

}  // namespace

void Cluster::Impl::load(Records records) {
    for (const model::NodeConfig& config : settings_.nodes)
        nodes_.push_back(fresh_node(config, now_));
    for (const model::Node& record : records.nodes) {
        const auto same = [&](const model::Node& node) {
            return node.config.name == record.config.name;
        };
        const auto found = std::ranges::find_if(nodes_, same);
        if (found != nodes_.end()) restore(*found, record);
    }
    partitions_ = settings_.partitions;
    deleted_partitions_.insert(records.deleted_partitions.begin(),
                               records.deleted_partitions.end());
    std::erase_if(partitions_, [&](const auto& p) { return deleted_partitions_.contains(p.name); });
    for (model::Partition& partition : records.partitions) {
        runtime_partitions_.insert(partition.name);
        if (const auto index = partition_index(partition.name)) {
            partitions_[*index] = std::move(partition);
        } else {
            partitions_.push_back(std::move(partition));
        }
    }
    next_job_id_ = JobId{std::max(settings_.first_job_id, records.next_job_id.value)};
    next_reservation_id_ = std::max(1u, records.next_reservation_id);
    for (model::Reservation& reservation : records.reservations) {
        next_reservation_id_ = std::max(next_reservation_id_, reservation.id + 1);
        const std::string name = reservation.name;
        calendar_.emplace(name, std::move(reservation));
    }
    node_sides_.assign(nodes_.size(), {});
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        node_sides_[i].silent_since = now_;
        timers_.set({TimerKey::Kind::Node, i}, now_ + settings_.node_timeout);
        timers_.set({TimerKey::Kind::NodeResume, i}, nodes_[i].resume_at);
    }
    if (records.restored) begin_restoring();
    triggers_.last_id = records.last_trigger_id;
    for (model::Trigger& trigger : records.triggers) triggers_.add(std::move(trigger));
    holdings_.begin_rebuild();
    reset_tables();
    derive_calendar();  // Each job that waits is to see it.
    std::vector<JobId> entangled;
    if (records.jobs) {
        records.jobs([&](Job record, std::vector<model::Step> steps) {
            take_record(std::move(record), std::move(steps), entangled);
        });
    }
    holdings_.end_rebuild();
    set_windows();  // When one ends depends on the jobs that run in it.
    // Verdicts that were due while nobody was there are changes like any other.
    review_each(entangled);
    end_orphans();
    resume_reboots();
    resume_triggers();
}

void Cluster::Impl::review_each(const std::vector<JobId>& ids) {
    for (const JobId id : ids) {
        jobs_.fold_idle();
        if (Job* job = find_job(id)) {
            retime(*job);
            review(*job);
        }
    }
}

// One look at each record is enough for most. What those may do that depend on others is seen when
// all are here.
void Cluster::Impl::take_record(Job record, std::vector<model::Step> steps,
                                std::vector<JobId>& entangled) {
    jobs_.fold_idle();
    for (model::Step& step : steps) steps_.emplace(step.key, std::move(step));
    // A record can be newer than the stored counter only if it is part of the same transaction.
    next_job_id_ = std::max(next_job_id_, JobId{record.id.value + 1});
    if (restored_at_) restored_before_ = std::max(restored_before_, next_job_id_);
    Job& job = jobs_.add(std::move(record));
    index_job(job);
    planning_.preemption.renew(job);
    claim(job);
    resume_program(job);
    const JobSpec& spec = *job.spec;
    if (job.array || job.het || !spec.dependency.empty() || spec.deadline ||
        !spec.licenses.empty() || !spec.reservation.empty()) {
        entangled.push_back(job.id);
        return;
    }
    retime(job);
    review(job);
}

// The tables by which a job is found, apart from what it holds and where it queues.
void Cluster::Impl::index_job(const Job& job) {
    index_reservation(job);
    if (job.nonce != 0) nonces_.insert({job.nonce, job.spec->uid, job.id});
    const bool over = std::holds_alternative<model::Ended>(job.phase);
    if (!over) {
        ++unfinished_;
        unfinished_names_.add(job.spec->uid, job.spec->name, job.id);
    }
    if (std::holds_alternative<model::Pending>(job.phase)) index_dependency(job);
    if (job.het) hets_[job.het->leader].insert(job.id);
    if (job.array) {
        ArraySide& array = arrays_[job.array->array_id];
        array.records.insert(job.id);
        const bool waits = std::holds_alternative<model::Pending>(job.phase);
        if (waits) array.pending.insert(job.id);
        if (!over && !waits) ++array.running;
        if (const model::Outcome* outcome = over ? model::outcome_of(job) : nullptr) {
            const int wait = outcome->exit.to_wait();
            array.worst_wait = std::max(array.worst_wait, wait);
            array.least_wait = array.any_ended ? std::min(array.least_wait, wait) : wait;
            array.any_ended = true;
            array.any_failed |= outcome->state != model::JobState::Completed;
        }
    }
    if (over) return;
    const auto first = steps_.lower_bound(StepKey{job.id, job.attempt, StepId{0}});
    for (auto at = first;
         at != steps_.end() && at->first.job == job.id && at->first.attempt == job.attempt; ++at) {
        if (at->second.end) continue;
        JobSide& own = side(job.id);
        if (model::is_pending(at->second)) {
            own.waiting_steps.push_back({{}, at->first.step});
            continue;
        }
        own.active_steps.insert(at->first.step);
        // What it runs is in the store: no srun is needed to launch it.
        if (at->second.spec.detached) own.launched_here.insert(at->first.step);
    }
    if (job.spec->kind == model::JobKind::Allocation && !job.spec->detached &&
        !std::holds_alternative<model::Completing>(job.phase)) {
        timers_.set({TimerKey::Kind::Owner, job.id.value}, now_ + settings_.owner_grace);
    }
}

// Nodes that nobody holds, partitions without a queue: what is known before any job is looked at.
void Cluster::Impl::reset_tables() {
    for (model::Node& node : nodes_) {
        node.used_cores = {};
        node.used_cpus = 0;
        node.used_memory = {};
        node.used_gres.clear();
        node.running_jobs = node.completing_jobs = 0;
        node.exclusive = false;
        node.partitions.clear();
        if (node.facts) {
            const model::NodeFacts& facts = *node.facts;
            model::NodeConfig& config = node.config;
            if (config.cpus == 0 && config.sockets == 0 && config.cores_per_socket == 0) {
                config.cpus = facts.cpus;
                config.sockets = facts.sockets;
                config.cores_per_socket = facts.cores_per_socket;
                config.threads_per_core = facts.threads_per_core;
            }
            if (config.memory.value == 0) config.memory = facts.memory;
            if (config.gres.empty()) config.gres = facts.gres;
        }
    }
    planning_.clear();
    pool_.reset(nodes_, settings_.unit);
    pool_.set_partitions(partitions_);
    for (const model::Partition& partition : partitions_) {
        for (const std::string& name : partition.nodes) {
            if (const auto node = node_index(name))
                nodes_[*node].partitions.push_back(partition.name);
        }
    }
    licenses_.reset(settings_.licenses);
    license_line_.clear();
    license_places_.clear();
    runs_in_.clear();
    for (NodeSide& node : node_sides_) node.jobs.clear();
    for (NodeIndex i = 0; i < nodes_.size(); ++i) refresh_node(i);
}

// Holdings, queue and timers anew, from nodes, partitions and jobs.
void Cluster::Impl::rebuild() {
    std::set<JobId> holders;
    for (const NodeSide& node : node_sides_) holders.insert(node.jobs.begin(), node.jobs.end());
    holdings_.begin_rebuild();
    reset_tables();
    for (const JobId id : holders) {
        planning_.preemption.renew(jobs_.at(id));
        claim(jobs_.at(id));
    }
    holdings_.end_rebuild();
    derive_calendar();
    review_each(jobs_.ids());
}

void Cluster::Impl::on(const event::Reconfigure& event) {
    settings_ = event.settings;
    std::vector<model::Node> nodes;
    std::vector<NodeSide> sides;
    for (const model::NodeConfig& config : settings_.nodes) {
        model::Node node = fresh_node(config, now_);
        NodeSide side;
        side.silent_since = now_;
        if (const auto old = node_index(config.name)) {
            restore(node, nodes_[*old]);
            node.responding = nodes_[*old].responding;
            side = node_sides_[*old];
            side.retired = false;
        }
        nodes.push_back(std::move(node));
        sides.push_back(std::move(side));
    }
    // A node that is no longer configured stays until its jobs have left.
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        const auto same = [&](const model::Node& node) {
            return node.config.name == nodes_[i].config.name;
        };
        if (std::ranges::any_of(nodes, same) || node_sides_[i].jobs.empty()) continue;
        nodes.push_back(nodes_[i]);
        sides.push_back(node_sides_[i]);
        sides.back().retired = true;
    }
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        timers_.set({TimerKey::Kind::Node, i}, std::nullopt);
        timers_.set({TimerKey::Kind::NodeResume, i}, std::nullopt);
    }
    nodes_ = std::move(nodes);
    node_sides_ = std::move(sides);
    std::vector<model::Partition> partitions = settings_.partitions;
    std::erase_if(partitions, [&](const auto& p) { return deleted_partitions_.contains(p.name); });
    for (const std::string& name : runtime_partitions_) {
        const auto old = partition_index(name);
        if (!old) continue;
        const auto same = [&](const model::Partition& p) { return p.name == name; };
        const auto found = std::ranges::find_if(partitions, same);
        if (found != partitions.end()) {
            *found = partitions_[*old];
        } else {
            partitions.push_back(partitions_[*old]);
        }
    }
    partitions_ = std::move(partitions);
    planning_.feasibility.usable_nodes_changed();
    rebuild();
    for (NodeIndex i = 0; i < nodes_.size(); ++i) {
        if (node_sides_[i].silent_since) {
            timers_.set({TimerKey::Kind::Node, i},
                        *node_sides_[i].silent_since + settings_.node_timeout);
        }
        timers_.set({TimerKey::Kind::NodeResume, i}, nodes_[i].resume_at);
    }
    resume_reboots();
    cluster_event(model::TriggerType::Reconfig, "reconfig");
    if (event.token) reply(*event.token, reply::Done{});
}

}  // namespace switchyard::core
