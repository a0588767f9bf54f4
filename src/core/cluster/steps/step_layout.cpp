// step_layout.cpp: which nodes, cores and cards of a job one of its steps gets.
//
// Steps share a job's nodes by count: each is charged for the cpus its tasks ask for, and waits
// when the job has not so many uncharged. A step with --exact is confined to cores of its own; any
// other may use all of the job's cores on its nodes, so that the threads of a lone srun have the
// whole allocation.

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "core/cluster/steps/steps.hpp"
#include "core/sched/shape.hpp"
#include "model/layout.hpp"

namespace switchyard::core {
namespace {

// What other steps of the job have of one node.
struct Taken {
    std::uint32_t cpus = 0;
    model::IndexSet cores;  // Of steps with --exact.
    std::vector<model::GresGrant> gres;
    model::MiB memory;  // Of steps that asked for some.
    bool idle = true;   // No step has a part of it.
};

std::uint32_t threads_of(const model::NodeGrant& grant) {
    const auto cores = static_cast<std::uint32_t>(grant.cores.size());
    return cores == 0 ? 1 : std::max(1u, grant.cpus / cores);
}

std::uint32_t wanted_cpus(const model::StepSpec& spec, std::size_t tasks) {
    const std::uint32_t per_task = spec.cpus_per_task.value_or(1);
    return static_cast<std::uint32_t>(spec.overcommit ? std::min<std::size_t>(tasks, 1)
                                                      : tasks * per_task);
}

// What others may not have meanwhile.
std::uint32_t charged_cpus(const model::StepSpec& spec, std::size_t tasks) {
    return spec.overlap ? 0 : wanted_cpus(spec, tasks);
}

bool contains(const std::vector<std::string>& list, const std::string& value) {
    return std::ranges::find(list, value) != list.end();
}

bool same_kind(const model::GresGrant& one, const model::GresGrant& other) {
    return one.name == other.name && one.type == other.type;
}

// At most `count` of one grant of the job, less what its other steps have of it.
model::GresGrant free_part(const model::GresGrant& grant,
                           const std::vector<model::GresGrant>& taken, std::uint64_t count) {
    model::GresGrant part{grant.name, grant.type, 0, {}, {}};
    model::IndexSet devices = grant.devices;
    std::vector<model::GresGrant::Share> shares = grant.shares;
    std::uint64_t used = 0;
    for (const model::GresGrant& other : taken) {
        if (!same_kind(other, grant)) continue;
        devices.erase(other.devices);
        used += other.count;
        for (const auto& theirs : other.shares) {
            for (auto& ours : shares) {
                if (ours.device == theirs.device)
                    ours.amount -= std::min(ours.amount, theirs.amount);
            }
        }
    }
    if (!grant.devices.empty()) {
        part.devices = devices.first(count);
        part.count = part.devices.size();
        return part;
    }
    part.count = std::min(count, grant.count - std::min(grant.count, used));
    std::uint64_t left = part.count;
    for (auto share : shares) {
        share.amount = std::min(share.amount, left);
        left -= share.amount;
        if (share.amount > 0) part.shares.push_back(share);
    }
    return part;
}

// The part of `held` (less `taken`) that the requests name; NodesBusy if others have it now.
Result<std::vector<model::GresGrant>> pick_gres(const std::vector<model::GresRequest>& requests,
                                                const std::vector<model::GresGrant>& held,
                                                const std::vector<model::GresGrant>& taken) {
    std::vector<model::GresGrant> result;
    for (const model::GresRequest& request : requests) {
        std::uint64_t left = request.count, owned = 0;
        for (const model::GresGrant& grant : held) {
            if (grant.name != request.name || (!request.type.empty() && grant.type != request.type))
                continue;
            owned += grant.count;
            const model::GresGrant part = free_part(grant, taken, left);
            left -= part.count;
            if (part.count > 0) model::add_grants(result, {part});
        }
        if (owned < request.count) return fail(Errc::InvalidGres);
        if (left > 0) return fail(Errc::NodesBusy);
    }
    return result;
}

// The job's nodes that the step may use, in order.
Result<std::vector<const model::NodeGrant*>> candidate_nodes(const model::Allocation& allocation,
                                                             const model::StepSpec& spec) {
    std::vector<const model::NodeGrant*> nodes;
    for (const std::string& name : spec.required_nodes) {
        if (allocation.find(name) == nullptr) return fail(Errc::InvalidNodeName);
    }
    const std::uint32_t first = spec.relative.value_or(0);
    if (first >= allocation.nodes.size()) return fail(Errc::InvalidNodeCount);
    for (std::size_t i = 0; i < allocation.nodes.size(); ++i) {
        const model::NodeGrant& grant = allocation.nodes[(i + first) % allocation.nodes.size()];
        if (spec.relative && i + first >= allocation.nodes.size()) break;
        if (contains(spec.excluded_nodes, grant.node)) continue;
        nodes.push_back(&grant);
    }
    // Those it named come first.
    std::vector<const model::NodeGrant*> ordered;
    for (const bool named : {true, false}) {
        for (const model::NodeGrant* grant : nodes) {
            if (contains(spec.required_nodes, grant->node) == named) ordered.push_back(grant);
        }
    }
    return ordered;
}

struct StepSize {
    std::uint32_t nodes = 0;
    std::uint32_t tasks = 0;
};

// Cards of a step whose tasks are counted by them.
std::uint64_t step_gpus(const model::StepSpec& spec, const model::Allocation& allocation,
                        std::uint32_t nodes) {
    std::uint64_t asked = 0, held = 0;
    for (const model::GresRequest& request : spec.gpus_per_step) asked += request.count;
    for (const model::GresRequest& request : spec.gres_per_node) {
        if (request.name == "gpu") asked += request.count * nodes;
    }
    for (std::size_t i = 0; i < allocation.nodes.size() && i < nodes; ++i) {
        for (const model::GresGrant& grant : allocation.nodes[i].gres) {
            if (grant.name == "gpu") held += grant.count;
        }
    }
    return asked > 0 ? asked : held;
}

// How many of the `available` nodes and how many tasks the step is.
Result<StepSize> size_of(const model::StepSpec& spec, const model::Allocation& allocation,
                         std::uint32_t available) {
    const std::set<std::string> named(spec.required_nodes.begin(), spec.required_nodes.end());
    const auto required = static_cast<std::uint32_t>(named.size());
    std::uint32_t count = available;
    if (spec.nodes_min || spec.nodes_max) {
        const std::uint32_t least = std::max(spec.nodes_min.value_or(1), std::max(1u, required));
        if (least > available) {
            return fail(Errc::InvalidNodeCount, "Only allocated " + std::to_string(available) +
                                                    " nodes asked for " + std::to_string(least));
        }
        count = std::min(available, std::max(least, spec.nodes_max.value_or(least)));
    } else if (required > 0) {
        count = required;
    }
    std::uint32_t tasks = count;
    if (spec.tasks) {
        tasks = *spec.tasks;
    } else if (spec.tasks_per_node) {
        tasks = *spec.tasks_per_node * count;
    } else if (const auto gpus = step_gpus(spec, allocation, count); spec.tasks_per_gpu && gpus) {
        tasks = static_cast<std::uint32_t>(*spec.tasks_per_gpu * gpus);
    } else if (count == allocation.nodes.size()) {
        std::uint32_t job_tasks = 0;
        for (const model::NodeGrant& grant : allocation.nodes) job_tasks += grant.tasks;
        tasks = std::max(job_tasks, count);
    }
    if (tasks == 0) return fail(Errc::InvalidTaskCount);
    if (tasks < count) count = std::max({tasks, required, 1u});
    return StepSize{count, tasks};
}

// For --distribution=arbitrary: the nodes in the order in which they were named, one for each task.
std::vector<std::uint32_t> positions_of(const std::vector<std::string>& names,
                                        const std::vector<const model::NodeGrant*>& nodes) {
    std::vector<std::uint32_t> positions;
    for (const std::string& name : names) {
        const auto found = std::ranges::find(nodes, name, [](const auto* n) { return n->node; });
        if (found != nodes.end())
            positions.push_back(static_cast<std::uint32_t>(found - nodes.begin()));
    }
    return positions;
}

// The ranks of each node; NodesBusy if they would fit were it not for other steps.
Result<std::vector<std::vector<std::uint32_t>>> rank_tasks(
    const std::vector<const model::NodeGrant*>& nodes, const std::vector<Taken>& taken,
    const model::StepSpec& spec, std::uint32_t tasks, bool overcommit) {
    const std::uint32_t per_task = std::max(1u, spec.cpus_per_task.value_or(1));
    model::LayoutRequest free, whole;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::uint32_t left = nodes[i]->cpus - std::min(nodes[i]->cpus, taken[i].cpus);
        free.slots.push_back(left / per_task);
        whole.slots.push_back(nodes[i]->cpus / per_task);
    }
    free.tasks = whole.tasks = tasks;
    free.tasks_per_node = whole.tasks_per_node = spec.tasks_per_node.value_or(0);
    free.distribution = whole.distribution = spec.distribution;
    free.overcommit = whole.overcommit = overcommit;
    if (spec.distribution.nodes == model::Distribution::Nodes::Arbitrary)
        free.arbitrary = whole.arbitrary = positions_of(spec.required_nodes, nodes);
    auto ranks = model::lay_out(free);
    const auto empty = [](const auto& list) { return list.empty(); };
    const bool starved = ranks && std::ranges::any_of(*ranks, empty) &&
                         tasks >= static_cast<std::uint32_t>(nodes.size());
    if (ranks && !starved) return ranks;
    const auto possible = model::lay_out(whole);
    if (possible) return fail(Errc::NodesBusy);
    return fail(possible.error().code == Errc::InvalidTaskCount ? Errc::TooManyCpus
                                                                : possible.error().code);
}

// Cores of its own for a step with --exact.
Status confine(model::StepNode& part, const model::NodeGrant& node, const Taken& taken,
               const model::StepSpec& spec) {
    const std::uint32_t threads = threads_of(node);
    const std::uint32_t cores = (wanted_cpus(spec, part.tasks.size()) + threads - 1) / threads;
    model::IndexSet own = node.cores;
    own.erase(taken.cores);
    part.grant.cores = own.first(std::max(1u, cores));
    if (part.grant.cores.size() < cores) return fail(Errc::NodesBusy);
    part.grant.cpus = static_cast<std::uint32_t>(part.grant.cores.size()) * threads;
    return {};
}

// What the step asks for on one node; without a word it is all that the job has there.
std::vector<model::GresRequest> gres_requests(const model::NodeGrant& node,
                                              const model::StepSpec& spec, std::uint64_t tasks,
                                              std::uint64_t gpus) {
    if (spec.gres_none) return {};
    if (!spec.gres_per_node.empty()) return spec.gres_per_node;
    std::vector<model::GresRequest> requests;
    for (model::GresRequest request : spec.gpus_per_task) {
        request.count *= tasks;
        requests.push_back(std::move(request));
    }
    if (!spec.gpus_per_step.empty() && requests.empty() && gpus > 0)
        requests.push_back({"gpu", spec.gpus_per_step.front().type, gpus});
    if (!requests.empty() || !spec.gpus_per_step.empty()) return requests;
    for (const model::GresGrant& grant : node.gres)
        requests.push_back({grant.name, grant.type, grant.count});
    return requests;
}

std::uint64_t gpus_of(const std::vector<model::GresGrant>& grants) {
    std::uint64_t count = 0;
    for (const model::GresGrant& grant : grants) {
        if (grant.name == "gpu") count += grant.count;
    }
    return count;
}

// How many cards of a step's whole number come from each of its nodes: as evenly as they have them.
Result<std::vector<std::uint64_t>> spread_gpus(const std::vector<const model::NodeGrant*>& nodes,
                                               const std::vector<Taken>& taken,
                                               const model::StepSpec& spec) {
    std::vector<std::uint64_t> counts(nodes.size(), 0), free;
    std::uint64_t left = 0, owned = 0, open = 0;
    for (const model::GresRequest& request : spec.gpus_per_step) left += request.count;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::uint64_t held = gpus_of(nodes[i]->gres), used = gpus_of(taken[i].gres);
        free.push_back(held - std::min(held, used));
        owned += held;
        open += free.back();
    }
    if (left > owned) return fail(Errc::InvalidGres);
    if (left > open) return fail(Errc::NodesBusy);
    for (bool moved = true; left > 0 && moved;) {
        moved = false;
        for (std::size_t i = 0; i < nodes.size() && left > 0; ++i) {
            if (counts[i] == free[i]) continue;
            ++counts[i];
            --left;
            moved = true;
        }
    }
    return counts;
}

// A job that has its nodes for itself holds more cards than it asked for. A step of it that says
// nothing means those it asked for.
model::StepSpec with_gres_of(const model::JobSpec& asked, model::StepSpec step) {
    if (step.interactive || step.gres_none || !step.gres_per_node.empty() ||
        !step.gpus_per_task.empty() || !step.gpus_per_step.empty())
        return step;
    step.gres_per_node = asked.gres_per_node;
    for (model::GresRequest gpus : asked.gpus_per_socket) {
        gpus.count *= asked.sockets_per_node.value_or(1);
        step.gres_per_node.push_back(std::move(gpus));
    }
    step.gpus_per_task = asked.gpus_per_task;
    if (step.gpus_per_task.empty()) step.gpus_per_step = asked.gpus_per_job;
    step.gres_none =
        step.gres_per_node.empty() && step.gpus_per_task.empty() && step.gpus_per_step.empty();
    return step;
}

// One node's part of the step: its share of what the job holds there.
Result<model::StepNode> make_part(const model::NodeGrant& node, const Taken& taken,
                                  const model::StepSpec& spec, std::vector<std::uint32_t> ranks,
                                  bool shares, std::uint64_t gpus) {
    model::StepNode part;
    part.tasks = std::move(ranks);
    part.grant = node;
    part.grant.tasks = static_cast<std::uint32_t>(part.tasks.size());
    if (spec.exact && !spec.whole) SY_CHECK(confine(part, node, taken, spec));
    using Per = model::MemoryRequest::Per;
    if (spec.memory.per != Per::Unset && spec.memory.amount.value > 0) {
        const std::uint64_t factor =
            spec.memory.per == Per::Cpu ? std::max(1u, wanted_cpus(spec, part.tasks.size())) : 1;
        part.grant.memory = spec.memory.amount * factor;
        if (node.memory.value > 0 && part.grant.memory > node.memory)
            return fail(Errc::MemoryNotSatisfiable);
        // What other steps asked for they have; the rest of the job's is shared by those that did
        // not ask.
        const std::uint64_t left =
            node.memory.value - std::min(node.memory.value, taken.memory.value);
        if (node.memory.value > 0 && !shares && part.grant.memory.value > left)
            return fail(Errc::NodesBusy);
    }
    const std::vector<model::GresGrant> none;
    SY_TRY(part.grant.gres, pick_gres(gres_requests(node, spec, part.tasks.size(), gpus), node.gres,
                                      shares ? none : taken.gres));
    return part;
}

using TakenOf = std::map<std::string_view, Taken>;

// Adds what `step` has of each of the nodes.
void charge(const model::Step& step, TakenOf& taken) {
    for (const model::StepNode& part : step.layout.nodes) {
        const auto node = taken.find(part.grant.node);
        if (node == taken.end() || !contains(step.running_nodes, part.grant.node)) continue;
        Taken& here = node->second;
        here.idle = false;
        here.cpus += charged_cpus(step.spec, part.tasks.size());
        if (step.spec.exact) here.cores.insert(part.grant.cores);
        model::add_grants(here.gres, part.grant.gres);
        if (step.spec.memory.per != model::MemoryRequest::Per::Unset &&
            step.spec.memory.amount.value > 0) {
            here.memory.value += part.grant.memory.value;
        }
    }
}

// How well a node would do for a part of the step with so many tasks; 0 is best.
std::size_t misfit(const model::NodeGrant& node, const Taken& taken, const model::StepSpec& spec,
                   std::uint32_t tasks, std::uint64_t gpus) {
    const std::uint32_t per_task = spec.overcommit ? 0 : spec.cpus_per_task.value_or(1);
    const std::uint32_t left = node.cpus - std::min(node.cpus, taken.cpus);
    if (node.cpus < per_task * tasks) return 4;
    if (left < per_task * tasks) return left >= per_task && left > 0 ? 2 : 3;
    if (!make_part(node, taken, spec, std::vector<std::uint32_t>(tasks), false, gpus)) return 3;
    return taken.idle ? 0 : 1;
}

// The nodes of a step that needs but some of its job's: those it names, then those where nothing
// of the job runs, then those with room, so that steps side by side spread over the job.
std::vector<const model::NodeGrant*> choose_nodes(std::vector<const model::NodeGrant*> nodes,
                                                  const TakenOf& taken, const model::StepSpec& spec,
                                                  StepSize size) {
    if (nodes.size() <= size.nodes) return nodes;
    const std::uint32_t tasks = (size.tasks + size.nodes - 1) / size.nodes;
    std::uint64_t gpus = 0;
    for (const model::GresRequest& request : spec.gpus_per_step) gpus += request.count;
    gpus = (gpus + size.nodes - 1) / size.nodes;
    std::array<std::vector<const model::NodeGrant*>, 5> by_fit;
    for (const model::NodeGrant* node : nodes) {
        const bool named = contains(spec.required_nodes, node->node);
        const std::size_t fit = named ? 0 : misfit(*node, taken.at(node->node), spec, tasks, gpus);
        by_fit[fit].push_back(node);
        if (by_fit[0].size() == size.nodes) break;
    }
    std::vector<const model::NodeGrant*> chosen;
    for (const auto& group : by_fit) {
        for (const model::NodeGrant* node : group) {
            if (chosen.size() < size.nodes) chosen.push_back(node);
        }
    }
    return chosen;
}

}  // namespace

Result<model::StepLayout> Steps::lay_out(const Job& job, const event::CreateStep& event) const {
    const model::Partition* partition = world_.partition_of(job);
    const bool whole =
        partition != nullptr && sched::takes_whole_nodes(*job.spec, *partition, world_.settings);
    const model::StepSpec spec = whole ? with_gres_of(*job.spec, event.spec) : event.spec;
    const model::Allocation& allocation = *model::allocation_of(job);
    SY_TRY(std::vector<const model::NodeGrant*> nodes, candidate_nodes(allocation, spec));
    SY_TRY(const StepSize size,
           size_of(spec, allocation, static_cast<std::uint32_t>(nodes.size())));
    const bool shares = spec.overlap || spec.interactive;
    TakenOf taken_of;
    for (const model::NodeGrant* node : nodes) taken_of[node->node];
    if (!shares) {
        for (const StepId id : active(job.id)) {
            if (id == kBatchStep || id == kExternStep || id == kInteractiveStep) continue;
            const model::Step& other = world_.steps.at(StepKey{job.id, job.attempt, id});
            if (!other.spec.overlap) charge(other, taken_of);
        }
    }
    nodes = choose_nodes(std::move(nodes), taken_of, spec, size);
    // Ranks follow the order of the job's nodes, however they were chosen.
    std::ranges::sort(nodes);
    std::vector<Taken> taken;
    for (const model::NodeGrant* node : nodes) taken.push_back(taken_of.at(node->node));
    const bool overcommit = spec.overcommit || spec.interactive || job.spec->overcommit;
    SY_TRY(auto ranks, rank_tasks(nodes, taken, spec, size.tasks, overcommit));
    SY_TRY(const auto gpus, spread_gpus(nodes, taken, spec));
    model::StepLayout layout;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        SY_TRY(model::StepNode part,
               make_part(*nodes[i], taken[i], spec, std::move(ranks[i]), shares, gpus[i]));
        layout.nodes.push_back(std::move(part));
    }
    return layout;
}

}  // namespace switchyard::core
