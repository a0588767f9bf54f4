// nodes.cpp: nodes come, fall silent, and fail.

#include <algorithm>

#include <fmt/format.h>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

constexpr const char* kNotResponding = "Not responding";
constexpr const char* kController = "slurm";

// Why a machine is less than it was said to be; empty: it is not.
std::string shortfall(const model::NodeConfig& config, const model::NodeFacts& facts) {
    if (facts.cpus != 0 && facts.cpus < config.cpus) {
        return fmt::format("Low CPUs (reported:{} < configured:{})", facts.cpus, config.cpus);
    }
    if (facts.memory.value != 0 && facts.memory < config.memory) {
        return fmt::format("Low RealMemory (reported:{} < 100.00% of configured:{})",
                           facts.memory.value, config.memory.value);
    }
    if (facts.tmp_disk.value != 0 && facts.tmp_disk < config.tmp_disk) {
        return fmt::format("Low TmpDisk (reported:{} < configured:{})", facts.tmp_disk.value,
                           config.tmp_disk.value);
    }
    for (const model::GresInventory& gres : config.gres) {
        for (const model::GresInventory& found : facts.gres) {
            if (found.name == gres.name && found.type == gres.type && found.count < gres.count) {
                return fmt::format("gres/{} count reported lower than configured ({} < {})",
                                   gres.name, found.count, gres.count);
            }
        }
    }
    return {};
}

bool same_machine(const std::optional<model::NodeFacts>& known, model::NodeFacts facts) {
    if (!known) return false;
    facts.free_memory = known->free_memory;
    facts.cpu_load = known->cpu_load;
    facts.card_use = known->card_use;
    return *known == facts;
}

// Which cards they are is the machine's to say; how many, the configuration's, if it says so.
void adopt_gres(model::NodeConfig& config, const model::NodeFacts& facts) {
    for (model::GresInventory& gres : config.gres) {
        for (const model::GresInventory& found : facts.gres) {
            const bool same = found.name == gres.name && found.type == gres.type;
            if (same && found.count == gres.count) gres = found;
        }
    }
}

}  // namespace

void fill_from_facts(model::NodeConfig& config, bool gres_are_configured,
                     const model::NodeFacts& facts) {
    if (config.cpus == 0 && config.sockets == 0 && config.cores_per_socket == 0) {
        config.cpus = facts.cpus;
        config.sockets = facts.sockets;
        config.cores_per_socket = facts.cores_per_socket;
        config.threads_per_core = facts.threads_per_core;
    }
    if (config.memory.value == 0) config.memory = facts.memory;
    if (gres_are_configured) {
        adopt_gres(config, facts);
    } else {
        config.gres = facts.gres;
    }
}

void Cluster::Impl::on(const event::NodeUp& event) {
    const auto index = node_index(event.node);
    if (!index) return;
    adopt_facts(*index, event.facts);
    model::Node& node = nodes_[*index];
    node.responding = true;
    node_sides_[*index].silent_since.reset();
    timers_.set({TimerKey::Kind::Node, *index}, std::nullopt);
    if (node.down) {
        const bool was_silent = node.mark && node.mark->reason == kNotResponding;
        const bool returns =
            settings_.return_to_service >= 2 || (settings_.return_to_service == 1 && was_silent);
        if (returns) {
            node.down = false;
            if (!node.drain) node.mark.reset();
            touch_node(*index);
        }
    }
    reboot_done(*index, event.facts.booted);
    if (node_sides_[*index].owes_journal) {
        node_sides_[*index].listed = event.steps;
    } else {
        reconcile(*index, event.steps);
    }
    refresh_node(*index);
}

void Cluster::Impl::adopt_facts(NodeIndex index, const model::NodeFacts& facts) {
    model::Node& node = nodes_[index];
    const model::NodeConfig before = node.config;
    // As a rule it stands where it is configured.
    auto said =
        settings_.nodes.begin() + std::min<std::ptrdiff_t>(index, std::ssize(settings_.nodes));
    if (said == settings_.nodes.end() || said->name != node.config.name)
        said = std::ranges::find(settings_.nodes, node.config.name, &model::NodeConfig::name);
    fill_from_facts(node.config, said != settings_.nodes.end() && !said->gres.empty(), facts);
    if (!same_machine(node.facts, facts)) touch_node(index);
    node.facts = facts;
    drain_for(index, facts.problem.empty() ? shortfall(node.config, facts) : facts.problem);
    if (node.config == before) return;
    pool_.redescribe(index, node);
    planning_.node_described(index);
    // Jobs that no partition seemed able to hold may have been waiting for this description.
    std::vector<JobId> limited;
    for (const auto& [id, job] : jobs_) {
        if (model::reason_of(job) == model::Reason::PartitionNodeLimit) limited.push_back(id);
    }
    for (const JobId id : limited) review(jobs_.at(id));
}

void Cluster::Impl::drain_for(NodeIndex index, const std::string& problem) {
    model::Node& node = nodes_[index];
    if (problem.empty() || node.drain) return;
    node.drain = true;
    node.mark = model::NodeMark{problem, kController, now_};
    touch_node(index);
}

void Cluster::Impl::on(const event::NodeLost& event) {
    const auto index = node_index(event.node);
    if (!index || !nodes_[*index].responding) return;
    nodes_[*index].responding = false;
    node_sides_[*index].silent_since = now_;
    node_sides_[*index].listed.reset();
    node_sides_[*index].ghosts.clear();  // Its next registration lists them again.
    timers_.set({TimerKey::Kind::Node, *index}, now_ + settings_.node_timeout);
    refresh_node(*index);
    if (nodes_[*index].down) {
        // Already given up: do not wait for answers that cannot come.
        for (const JobId id : std::set<JobId>(node_sides_[*index].jobs))
            node_failed_job(jobs_.at(id), event.node);
    }
}

void Cluster::Impl::on(const event::NodeLoad& event) {
    const auto index = node_index(event.node);
    if (!index || !nodes_[*index].facts) return;
    nodes_[*index].facts->cpu_load = event.cpu_load;
    nodes_[*index].facts->free_memory = event.free_memory;
    nodes_[*index].facts->card_use = event.card_use;
    // Told once: an administrator may resume the node in spite of it.
    if (nodes_[*index].facts->problem == event.problem) return;
    nodes_[*index].facts->problem = event.problem;
    touch_node(*index);
    drain_for(*index, event.problem);
    refresh_node(*index);
}

// The node is drained, so that somebody looks at it. A job whose Prolog failed did not begin: a
// script goes back into the queue, held; an allocation is over.
void Cluster::Impl::on(const event::ScriptFailed& event) {
    const auto index = node_index(event.node);
    if (!index) return;
    model::Node& node = nodes_[*index];
    if (!node.drain) {
        node.drain = true;
        node.mark =
            model::NodeMark{event.epilog ? "Epilog error" : "Prolog error", kController, now_};
        touch_node(*index);
        refresh_node(*index);
    }
    Job* job = find_job(event.job);
    if (event.epilog || job == nullptr || job->attempt != event.attempt ||
        !std::holds_alternative<model::Running>(job->phase) || !speaks_for(event.node, *job))
        return;
    using Next = model::Completing::Next;
    model::Outcome outcome;
    outcome.reason = model::Reason::JobLaunchFailure;
    job->system_comment = "Prolog failed on node " + event.node;
    if (job->spec->kind != model::JobKind::Batch) {
        outcome.state = model::JobState::Cancelled;
        notify_owner(*job, reply::OwnerNotice::Kind::Cancelled);
        return end_run(*job, outcome, EndCause::Cancelled, settings_.kill_wait, Next::End);
    }
    outcome.state = model::JobState::NodeFail;
    const bool again = job->spec->requeue.value_or(settings_.requeue_by_default);
    const Next next = !again                             ? Next::End
                      : settings_.hold_on_prolog_failure ? Next::RequeueHold
                                                         : Next::Requeue;
    end_run(*job, outcome, EndCause::Requeued, settings_.kill_wait, next);
}

void Cluster::Impl::node_timer(NodeIndex index) {
    const NodeSide& side = node_sides_[index];
    if (nodes_[index].responding || !side.silent_since) return;
    if (*side.silent_since + settings_.node_timeout > now_) return;
    // Away to reboot: it has its own time for that.
    if (nodes_[index].reboot && nodes_[index].reboot->issued) return;
    node_down(index, kNotResponding, kController);
}

void Cluster::Impl::node_down(NodeIndex index, const std::string& reason, const std::string& by) {
    model::Node& node = nodes_[index];
    if (!node.down || by != kController) {
        const bool keep_mark = by == kController && node.drain && node.mark;
        if (!keep_mark) node.mark = model::NodeMark{reason, by, now_};
    }
    node.down = true;
    touch_node(index);
    refresh_node(index);
    const std::string name = node.config.name;
    for (const JobId id : std::set<JobId>(node_sides_[index].jobs))
        node_failed_job(jobs_.at(id), name);
}

// The node is down. What the job had there is lost, and the job with it unless it said otherwise.
void Cluster::Impl::node_failed_job(Job& job, const std::string& node) {
    const auto index = node_index(node);
    // The end of another component was its own: it holds nothing here any more.
    if (index && !node_sides_[*index].jobs.contains(job.id)) return;
    const bool silent = !index || !nodes_[*index].responding;
    if (std::holds_alternative<model::Completing>(job.phase)) {
        if (silent) node_is_clean(job, node);
        return;
    }
    notify_owner(job, reply::OwnerNotice::Kind::NodeFailed, node);
    model::Allocation allocation = *model::allocation_of(job);
    const bool first = allocation.nodes.front().node == node;
    const bool survives = job.spec->no_kill && allocation.nodes.size() > 1 &&
                          !(first && job.spec->kind == model::JobKind::Batch);
    if (survives && silent) {
        close_steps_on(job, node);
        release_on(job, node);
        std::erase_if(allocation.nodes,
                      [&](const model::NodeGrant& grant) { return grant.node == node; });
        auto* running = std::get_if<model::Running>(&job.phase);
        (running != nullptr ? *running : std::get<model::Suspended>(job.phase).run).allocation =
            std::move(allocation);
        touch(job);
        return;
    }
    model::Outcome outcome;
    outcome.state = model::JobState::NodeFail;
    outcome.reason = model::Reason::NodeFail;
    const JobSpec& deciding = *leader_of(job).spec;
    const bool again = deciding.kind == model::JobKind::Batch && may_run_again(leader_of(job));
    using Next = model::Completing::Next;
    end_run(job, outcome, EndCause::NodeFailed, settings_.kill_wait,
            again ? Next::Requeue : Next::End);
}

}  // namespace switchyard::core
