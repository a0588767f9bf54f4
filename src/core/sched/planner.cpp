// planner.cpp: the search for the earliest start.

#include "core/sched/planner.hpp"

#include <algorithm>
#include <functional>

namespace switchyard::core::sched {
namespace {

// Moments tried for a job whose nodes differ; each costs a look at the whole partition.
constexpr int kSearchTriesMax = 24;
constexpr int kSearchTriesInARow = 8;

// The cores of the node when everyone who leaves by `at` has left.
std::uint32_t cores_at(const NodeEntry& node, Instant at) {
    std::uint32_t cores = node.free.cores;
    for (const Holding& holding : node.holdings) {
        if (holding.until > at) break;
        cores += holding.room.cores;
    }
    return cores;
}

// How much of a job the good nodes could hold together.
struct Sum {
    std::uint64_t nodes = 0, tasks = 0;
    std::array<std::uint64_t, kGpuKindsMax> gpus{};

    void replace(const Fit& old, const Fit& fresh) {
        nodes += (fresh.tasks > 0 ? 1u : 0u) - (old.tasks > 0 ? 1u : 0u);
        tasks += std::uint64_t{fresh.tasks} - old.tasks;
        for (std::size_t kind = 0; kind < kGpuKindsMax; ++kind)
            gpus[kind] += std::uint64_t{fresh.gpus[kind]} - old.gpus[kind];
    }
    bool enough(const Shape& shape) const {
        if (nodes < shape.nodes_min) return false;
        if (!shape.tasks_by_node && !shape.overcommit && tasks < shape.tasks) return false;
        for (std::size_t kind = 0; kind < std::min(kGpuKindsMax, shape.gpus_per_job.size());
             ++kind) {
            if (gpus[kind] < shape.gpus_per_job[kind].count) return false;
        }
        return true;
    }
};

}  // namespace

std::uint64_t Planner::version(NodeIndex node) const {
    return std::uint64_t{pool_.node(node).version} << 32 | reserved_.version(node);
}

// The next moment at which some node of the partition may become good; not passed yet.
std::optional<Planner::Moment> Planner::peek(Walk& walk, const Demand& demand) {
    const auto& leaving = pool_.leaving(walk.partition);
    const auto& ends = reserved_.ends(walk.partition);
    if (walk.epoch != epoch_ || walk.changes != reserved_.changes())
        walk.ends = walk.ended ? ends.upper_bound(*walk.ended) : ends.begin();
    if (walk.epoch != epoch_)
        walk.leaving = walk.left ? leaving.upper_bound(*walk.left) : leaving.begin();
    walk.epoch = epoch_;
    walk.changes = reserved_.changes();
    if (walk.free_place != FreeIndex::kNone) {
        Least least = demand.least;
        least.cores = demand.shape.share > 1 ? 1 : least_cores(demand, pool_);
        const FreeIndex& index = pool_.usable_index(walk.partition);
        walk.free_place = index.find(walk.free_place, least);
        if (walk.free_place != FreeIndex::kNone)
            return Moment{now_, walk.free_place, Moment::From::Free};
    }
    while (walk.ends != ends.end() && walk.ends->first <= now_) ++walk.ends;
    std::optional<Moment> next;
    const auto consider = [&](Instant at, std::uint32_t place, Moment::From from) {
        if (!next || std::pair(at, place) < std::pair(next->at, next->place))
            next = Moment{at, place, from};
    };
    // Who should have left by now will have, as far as a plan can tell.
    if (walk.leaving != leaving.end())
        consider(std::max(now_, walk.leaving->until), walk.leaving->place, Moment::From::Leaving);
    if (walk.ends != ends.end()) consider(walk.ends->first, walk.ends->second, Moment::From::End);
    const auto& windows = pool_.windows().moments(walk.partition);
    const auto window = windows.upper_bound(walk.window.value_or(std::pair(now_, 0u)));
    if (window != windows.end()) consider(window->first, window->second, Moment::From::Window);
    return next;
}

void Planner::pass(Walk& walk, const Moment& moment) {
    ++looked_at_;
    switch (moment.from) {
        case Moment::From::Free:
            ++walk.free_place;
            break;
        case Moment::From::Leaving:
            walk.left = *walk.leaving++;
            break;
        case Moment::From::End:
            walk.ended = *walk.ends++;
            break;
        case Moment::From::Window:
            walk.window = {moment.at, moment.place};
            break;
    }
}

Fit Planner::fit_at(NodeIndex index, const Ask& ask, Instant at) {
    const NodeEntry& node = pool_.node(index);
    if (!node.usable) return {};
    // Most are refused for their cores, and that is quickly told.
    const std::uint32_t cores = (ask.demand.cpus_min + node.threads - 1) / node.threads;
    if (ask.demand.shape.share <= 1 && cores_at(node, at) < cores) return {};
    if (ask.demand.shape.whole_nodes && !node.holdings.empty() && node.holdings.back().until > at)
        return {};
    ++looked_at_;
    if (!is_candidate(node, index, ask.demand)) return {};
    const View view{.start = at,
                    .end = at + ask.limit,
                    .key = ask.key,
                    .future = true,
                    .reserved = &reserved_,
                    .owner = ask.owner};
    const auto room = room_in(pool_, index, view);
    return room ? fit(node, *room, ask.demand, pool_.unit()) : Fit{};
}

bool Planner::good_at(NodeIndex index, const Ask& ask, Instant at) {
    const Fit found = fit_at(index, ask, at);
    if (found.tasks < ask.tasks || found.tasks == 0) return false;
    if (!ask.all_gpus) return true;
    const auto& kinds = ask.demand.shape.gpus_per_job;
    for (std::size_t kind = 0; kind < std::min(kGpuKindsMax, kinds.size()); ++kind) {
        if (found.gpus[kind] < kinds[kind].count) return false;
    }
    return true;
}

// For one node, from a moment on. It can only become good when someone leaves, or a reservation
// begins or ends.
std::optional<Instant> Planner::earliest(NodeIndex index, const Ask& ask, Instant from) {
    if (good_at(index, ask, from)) return from;
    std::vector<Instant> moments;
    for (const Holding& holding : pool_.node(index).holdings) {
        if (holding.until > from) moments.push_back(holding.until);
    }
    for (const Reserved& reserved : reserved_.on(index)) {
        if (reserved.until > from) moments.push_back(reserved.until);
    }
    for (const Window& window : pool_.windows().on(index)) {
        if (window.from > from) moments.push_back(window.from);
        if (window.until > from) moments.push_back(window.until);
    }
    std::ranges::sort(moments);
    for (const Instant moment : moments) {
        if (good_at(index, ask, moment)) return moment;
    }
    return std::nullopt;
}

// A later start is as good on this node up to this moment at least.
Instant Planner::good_until(const NodeTime& entry, const Ask& ask) const {
    Instant until = pool_.windows().welcome_until(entry.node, ask.owner, entry.at, ask.limit);
    for (const Reserved& reserved : reserved_.on(entry.node)) {
        if (reserved.key < ask.key && reserved.until > entry.at)
            until = std::min(until, std::max(entry.at, reserved.from - ask.limit));
    }
    return until;
}

void Planner::put_back(Front& front, NodeTime entry) {
    front.heap.push_back(entry);
    std::ranges::push_heap(front.heap, std::greater<>{});
}

// The node that becomes good next, taken out.
std::optional<Planner::NodeTime> Planner::next(Front& front, const Ask& ask) {
    const auto& order = pool_.order(front.walk.partition);
    while (true) {
        const auto moment = peek(front.walk, ask.demand);
        const bool waits = !front.heap.empty();
        const bool first =
            waits && (!moment || std::pair(front.heap.front().at, front.heap.front().place) <=
                                     std::pair(moment->at, moment->place));
        if (first) {
            std::ranges::pop_heap(front.heap, std::greater<>{});
            const NodeTime entry = front.heap.back();
            front.heap.pop_back();
            if (entry.version == version(entry.node)) return entry;
            if (const auto at = earliest(entry.node, ask, now_))
                put_back(front, {*at, entry.place, entry.node, version(entry.node)});
            continue;
        }
        if (!moment) return std::nullopt;
        pass(front.walk, *moment);
        if (front.seen[moment->place]) continue;
        const NodeIndex node = order[moment->place];
        if (!good_at(node, ask, moment->at)) continue;
        front.seen[moment->place] = true;
        put_back(front, {moment->at, moment->place, node, version(node)});
    }
}

// Takes nodes as they become good until there are enough; the last of them gives the start. Nodes
// that were good before but are not at that later moment have another turn when they are again.
std::optional<Planned> Planner::plan_alike(Front& front, const Ask& ask, std::uint32_t nodes) {
    std::vector<NodeTime> taken, later, given_up;  // Given up: for the sake of this job alone.
    Instant start = now_, good_for_all = Instant::max();
    const auto at_start = [&](NodeTime entry) {
        entry.at = start;
        return entry;
    };
    const auto wait = [&](const NodeTime& entry) {
        given_up.push_back(entry);
        if (const auto at = earliest(entry.node, ask, start)) {
            later.push_back({*at, entry.place, entry.node, entry.version});
            std::ranges::push_heap(later, std::greater<>{});
        }
    };
    while (taken.size() < nodes) {
        auto entry = next(front, ask);
        if (!later.empty() && (!entry || *entry > later.front())) {
            if (entry) put_back(front, *entry);
            std::ranges::pop_heap(later, std::greater<>{});
            entry = later.back();
            later.pop_back();
        }
        if (!entry) break;
        start = std::max(start, entry->at);
        if (start > good_for_all) {
            good_for_all = Instant::max();
            std::erase_if(taken, [&](const NodeTime& earlier) {
                const bool good = good_at(earlier.node, ask, start);
                if (good) good_for_all = std::min(good_for_all, good_until(at_start(earlier), ask));
                if (!good) wait(earlier);
                return !good;
            });
        }
        if (entry->at < start && !good_at(entry->node, ask, start)) {
            wait(*entry);
            continue;
        }
        good_for_all = std::min(good_for_all, good_until(at_start(*entry), ask));
        taken.push_back(*entry);
    }
    std::optional<Planned> planned;
    if (taken.size() == nodes) {
        planned.emplace();
        planned->start = start;
        planned->owner = ask.owner;
        std::uint32_t left = ask.demand.shape.total_tasks(nodes);
        std::ranges::sort(taken, {}, &NodeTime::node);
        for (const NodeTime& entry : taken) {
            const std::uint32_t tasks = std::min(left, ask.tasks);
            Pick pick{entry.node, std::max(1u, tasks), {}};
            const auto& kinds = ask.demand.shape.gpus_per_job;
            for (std::size_t kind = 0; kind < std::min(kGpuKindsMax, kinds.size()); ++kind)
                pick.gpus[kind] = static_cast<std::uint32_t>(kinds[kind].count);
            planned->picks.push_back(pick);
            left -= tasks;
        }
    }
    // Each goes back once, as it came.
    std::ranges::sort(given_up, [](const NodeTime& a, const NodeTime& b) {
        return std::pair(a.node, a.at) < std::pair(b.node, b.at);
    });
    const auto repeated = std::ranges::unique(given_up, {}, &NodeTime::node);
    given_up.erase(repeated.begin(), repeated.end());
    for (const NodeTime& entry : taken) {
        if (!std::ranges::binary_search(given_up, entry.node, {}, &NodeTime::node))
            put_back(front, entry);
    }
    for (const NodeTime& entry : given_up) put_back(front, entry);
    return planned;
}

// Adds up what the nodes could hold, moment by moment, and tries those at which it is enough; after
// some tries at growing distances.
std::optional<Planned> Planner::plan_by_search(PartitionIndex partition, const Ask& ask) {
    const auto& order = pool_.order(partition);
    Instant not_before = now_;
    for (const NodeIndex node : ask.demand.required) {
        const auto at = earliest(node, ask, now_);
        if (!at) return std::nullopt;
        not_before = std::max(not_before, *at);
    }
    Walk walk;
    walk.partition = partition;
    std::vector<Fit> fits(order.size());
    Sum sum;
    std::size_t distance = 1, skip = 0;
    int tries = 0;
    while (const auto moment = peek(walk, ask.demand)) {
        pass(walk, *moment);
        const Fit fresh = fit_at(order[moment->place], ask, moment->at);
        sum.replace(fits[moment->place], fresh);
        fits[moment->place] = fresh;
        if (!sum.enough(ask.demand.shape) || moment->at < not_before) continue;
        const auto following = peek(walk, ask.demand);
        if (following && (following->at == moment->at || skip > 0)) {
            skip -= skip > 0 ? 1 : 0;
            continue;
        }
        const View view{.start = moment->at,
                        .end = moment->at + ask.limit,
                        .key = ask.key,
                        .future = true,
                        .reserved = &reserved_,
                        .owner = ask.owner};
        looked_at_ += order.size();
        if (auto picks = place(pool_, partition, ask.demand, view))
            return Planned{moment->at, std::move(*picks), ask.owner};
        if (++tries == kSearchTriesMax) return std::nullopt;
        if (tries >= kSearchTriesInARow) {
            skip = distance;
            distance *= 2;
        }
    }
    return std::nullopt;
}

// In each reservation that it may run in, or outside; the earliest of them.
std::optional<Planned> Planner::plan(std::uint32_t group, PartitionIndex partition,
                                     const Demand& demand, Seconds limit, QueueKey key) {
    if (demand.impossible) return std::nullopt;
    std::optional<Planned> best;
    for (const WindowOwner owner : owners_of(demand.shape)) {
        auto planned = plan_for(owner, group, partition, demand, limit, key);
        if (planned && (!best || planned->start < best->start)) best = std::move(planned);
    }
    return best;
}

std::optional<Planned> Planner::plan_for(WindowOwner owner, std::uint32_t group,
                                         PartitionIndex partition, const Demand& demand,
                                         Seconds limit, QueueKey key) {
    const Shape& shape = demand.shape;
    const std::uint32_t nodes = shape.nodes_min;
    const bool one_node = nodes == 1 && !shape.spread;
    const bool plain =
        demand.required.empty() && !shape.contiguous && (shape.gpus_per_job.empty() || one_node);
    if (plain && (shape.tasks_by_node || shape.spread || nodes == 1)) {
        const bool parts = shape.spread && !shape.tasks_by_node;
        const Ask ask{demand,
                      parts ? (shape.tasks + nodes - 1) / nodes : shape.tasks,
                      !shape.gpus_per_job.empty(),
                      limit,
                      key,
                      owner};
        Front fresh;
        Front& front = group == 0 ? fresh : fronts_[{group, owner}];
        front.walk.partition = partition;
        front.seen.resize(pool_.order(partition).size());
        if (auto planned = plan_alike(front, ask, nodes)) return planned;
        if (shape.tasks_by_node && shape.gpus_per_job.empty()) return std::nullopt;
    }
    const Ask ask{demand, shape.tasks_by_node ? shape.tasks : 1, false, limit, key, owner};
    return plan_by_search(partition, ask);
}

}  // namespace switchyard::core::sched
