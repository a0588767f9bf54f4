// planner.cpp: the search for the earliest start.

#include "core/sched/planner.hpp"

#include <algorithm>
#include <functional>

namespace switchyard::core::sched {
namespace {

// Moments tried for a job whose nodes differ; each costs a look at the whole partition.
constexpr int kSearchTriesMax = 32;
constexpr int kSearchTriesInARow = 16;
// To pass somebody who leaves too little costs this much less than a look at a node.
constexpr std::uint64_t kPassedPerLook = 16;

// The earliest of each node, by node.
template <class Entry>
void keep_first_of_each_node(std::vector<Entry>& entries) {
    std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
        return std::pair(a.node, a.at) < std::pair(b.node, b.at);
    });
    const auto repeated = std::ranges::unique(entries, {}, &Entry::node);
    entries.erase(repeated.begin(), repeated.end());
}

}  // namespace

std::uint64_t Planner::version(NodeIndex node) const {
    return std::uint64_t{pool_.node(node).version} << 32 | reserved_.version(node);
}

// Passes those who leave a node that is known already, or too full for the job even then.
void Planner::pass_in_vain(Front& front, const Ask& ask) {
    Walk& walk = front.walk;
    const auto& order = pool_.order(walk.partition);
    const auto end = pool_.leaving(walk.partition).end();
    std::uint64_t passed = 0;
    const Leaving* last = nullptr;
    for (; walk.leaving != end; ++walk.leaving, ++passed) {
        const Leaving& leaving = *walk.leaving;
        // Those who are late may leave together with others.
        if (leaving.until <= from_ || leaving.until > horizon_) break;
        const CoresAhead& ahead = pool_.ahead(order[leaving.place]);
        const bool has_room = ahead.may_have(ask.cores, leaving.until) &&
                              (!ask.demand.shape.whole_nodes || ahead.all_left <= leaving.until);
        if (has_room && !front.seen[leaving.place]) break;
        last = &leaving;
    }
    if (last != nullptr) walk.left = *last;
    looked_at_ += passed / kPassedPerLook;
}

// The next moment at which some node of the partition may become good; not passed yet.
std::optional<Planner::Moment> Planner::peek(Front& front, const Ask& ask) {
    Walk& walk = front.walk;
    const auto& leaving = pool_.leaving(walk.partition);
    const auto& ends = reserved_.ends(walk.partition);
    if (walk.epoch != epoch_ || walk.changes != reserved_.changes())
        walk.ends = walk.ended ? ends.upper_bound(*walk.ended) : ends.begin();
    if (walk.epoch != epoch_)
        walk.leaving = walk.left ? leaving.upper_bound(*walk.left) : leaving.begin();
    walk.epoch = epoch_;
    walk.changes = reserved_.changes();
    if (walk.free_place != FreeIndex::kNone) {
        Least least = ask.demand.least;
        least.cores = std::max(1u, ask.cores);
        const FreeIndex& index = pool_.usable_index(walk.partition);
        walk.free_place = index.find(walk.free_place, least);
        if (walk.free_place != FreeIndex::kNone)
            return Moment{from_, walk.free_place, Moment::From::Free, from_};
    }
    pass_in_vain(front, ask);
    while (walk.ends != ends.end() && walk.ends->first <= from_) ++walk.ends;
    std::optional<Moment> next;
    const auto consider = [&](Instant at, std::uint32_t place, Moment::From from, Instant counts) {
        if (!next || std::pair(at, place) < std::pair(next->at, next->place))
            next = Moment{at, place, from, counts};
    };
    if (walk.leaving != leaving.end())
        consider(std::max(from_, walk.leaving->until), walk.leaving->place, Moment::From::Leaving,
                 std::max(from_, expected_end(walk.leaving->until, now_)));
    if (walk.ends != ends.end())
        consider(walk.ends->first, walk.ends->second, Moment::From::End, walk.ends->first);
    const auto& windows = pool_.windows().moments(walk.partition);
    const auto window = windows.upper_bound(walk.window.value_or(std::pair(from_, 0u)));
    if (window != windows.end())
        consider(window->first, window->second, Moment::From::Window, window->first);
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
    if (bottlenecks_.stop(index, ask.cores, at, at + ask.limit, ask.key) &&
        pool_.windows().on(index).empty())
        return {};
    const NodeEntry& node = pool_.node(index);
    if (!node.usable) return {};
    // Most are refused for their cores, and that is quickly told.
    const std::uint32_t cores = (ask.demand.cpus_min + node.threads - 1) / node.threads;
    if (ask.demand.shape.share <= 1 && node.cores_at(at) < cores) return {};
    if (ask.demand.shape.whole_nodes && !node.holdings.empty() && node.holdings.back().until > at)
        return {};
    ++looked_at_;
    if (!is_candidate(node, index, ask.demand)) return {};
    const std::uint32_t needed = ask.demand.shape.share > 1 ? 0 : cores;
    const View view{.start = at,
                    .end = at + ask.limit,
                    .key = ask.key,
                    .future = true,
                    .outlook = &outlook_,
                    .owner = ask.owner};
    const auto room = room_in(pool_, index, view, needed);
    if (!room || room->cores < needed) return {};
    return fit(node, *room, ask.demand, pool_.unit());
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
    const NodeEntry& node = pool_.node(index);
    if (!node.usable || !is_candidate(node, index, ask.demand)) return std::nullopt;
    const NodeLine& line = outlook_.line(index, ask.key);
    if (!pool_.windows().on(index).empty()) return earliest_in_windows(index, ask, from, line);
    const std::uint32_t cores =
        ask.demand.shape.share > 1 ? 0 : (ask.demand.cpus_min + node.threads - 1) / node.threads;
    for (auto at = line.first_with(cores, from, ask.limit); at;) {
        if (good_at(index, ask, *at)) return at;
        const auto next = line.next_slot(*at);
        at = next ? line.first_with(cores, *next, ask.limit) : std::nullopt;
    }
    return std::nullopt;
}

// The same where times belong to reservations: its stay may be cut short by the end of one.
std::optional<Instant> Planner::earliest_in_windows(NodeIndex index, const Ask& ask, Instant from,
                                                    const NodeLine& line) {
    std::vector<Instant> moments{from};
    for (const NodeLine::Slot& slot : line.slots()) {
        if (slot.from > from) moments.push_back(slot.from);
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
        const auto moment = peek(front, ask);
        const bool waits = !front.heap.empty();
        const bool first =
            waits && (!moment || std::pair(front.heap.front().at, front.heap.front().place) <=
                                     std::pair(moment->at, moment->place));
        const Instant next_at = first    ? front.heap.front().at
                                : moment ? moment->at
                                         : Instant::max();
        if (next_at > horizon_) return std::nullopt;
        if (first) {
            std::ranges::pop_heap(front.heap, std::greater<>{});
            const NodeTime entry = front.heap.back();
            front.heap.pop_back();
            if (entry.version == version(entry.node)) return entry;
            if (const auto at = earliest(entry.node, ask, from_))
                put_back(front, {*at, entry.place, entry.node, version(entry.node)});
            continue;
        }
        if (!moment) return std::nullopt;
        pass(front.walk, *moment);
        if (front.seen[moment->place]) continue;
        const NodeIndex node = order[moment->place];
        // After two looks in vain it is worth to find out when it will be good.
        std::optional<Instant> at = moment->counts;
        if (!good_at(node, ask, *at)) {
            const bool again = front.tried[moment->place];
            front.tried[moment->place] = true;
            if (!again) continue;
            at = earliest(node, ask, *at);
        }
        front.seen[moment->place] = true;
        if (at) put_back(front, {*at, moment->place, node, version(node)});
    }
}

// Takes nodes as they become good until there are enough; the last of them gives the start. Nodes
// that were good before but are not at that later moment have another turn when they are again.
std::optional<Planned> Planner::plan_alike(Front& front, const Ask& ask, std::uint32_t nodes) {
    struct Taken : NodeTime {
        Instant good_until;
    };
    std::vector<Taken> taken;
    std::vector<NodeTime> later, given_up;  // Given up: for the sake of this job alone.
    Instant start = from_, good_for_all = Instant::max();
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
        if (!entry || entry->at > horizon_) break;
        start = std::max(start, entry->at);
        if (start > good_for_all) {
            good_for_all = Instant::max();
            std::erase_if(taken, [&](Taken& earlier) {
                if (earlier.good_until < start) {
                    if (!good_at(earlier.node, ask, start)) {
                        wait(earlier);
                        return true;
                    }
                    earlier.good_until = good_until(at_start(earlier), ask);
                }
                good_for_all = std::min(good_for_all, earlier.good_until);
                return false;
            });
        }
        if (entry->at < start && !good_at(entry->node, ask, start)) {
            wait(*entry);
            continue;
        }
        taken.push_back({*entry, good_until(at_start(*entry), ask)});
        good_for_all = std::min(good_for_all, taken.back().good_until);
    }
    std::optional<Planned> planned;
    if (taken.size() == nodes) {
        planned = Planned{start, {}, ask.owner};
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
    keep_first_of_each_node(given_up);
    for (const NodeTime& entry : taken) {
        if (!std::ranges::binary_search(given_up, entry.node, {}, &NodeTime::node))
            put_back(front, entry);
    }
    for (const NodeTime& entry : given_up) put_back(front, entry);
    return planned;
}

// What all nodes together have, in step with the plan.
const Supply& Planner::supply(PartitionIndex partition, const QueueKey& key) {
    auto found = supplies_.find(partition);
    const auto added = reserved_.added();
    if (found != supplies_.end()) {
        const KnownSupply& known = found->second;
        if (known.epoch != epoch_ || known.drops != reserved_.drops() || key < known.key) {
            supplies_.erase(found);
            found = supplies_.end();
        }
    }
    if (found == supplies_.end()) {
        looked_at_ += pool_.order(partition).size();
        KnownSupply fresh{Supply(pool_, partition, outlook_, key), key, reserved_.drops(),
                          added.size(), epoch_};
        return supplies_.emplace(partition, std::move(fresh)).first->second.supply;
    }
    KnownSupply& known = found->second;
    known.key = key;
    // The places of one job follow each other and have one time.
    Reserved window;
    Supply::Amounts sum;
    for (; known.added < added.size(); ++known.added) {
        const auto& [index, at] = added[known.added];
        const NodeEntry& node = pool_.node(index);
        const auto here = [&](const auto& place) { return place.first == partition; };
        if (!node.usable || std::ranges::none_of(node.places, here)) continue;
        const Reserved& reserved = reserved_.on(index)[at];
        if (reserved.from != window.from || reserved.until != window.until) {
            known.supply.take(window.from, window.until, sum);
            window = reserved;
            sum = {};
        }
        sum.cores += reserved.room.cores;
        sum.gpus += gpus_in(node, reserved.room);
    }
    known.supply.take(window.from, window.until, sum);
    return known.supply;
}

// When all nodes that the job names are good for it, each for itself.
std::optional<Instant> Planner::required_are_good(const Ask& ask) {
    Instant moment = from_;
    for (const NodeIndex node : ask.demand.required) {
        const auto at = earliest(node, ask, from_);
        if (!at) return std::nullopt;
        moment = std::max(moment, *at);
    }
    return moment;
}

// For jobs whose nodes may differ.
std::optional<Planned> Planner::plan_by_search(std::uint32_t group, PartitionIndex partition,
                                               const Ask& ask) {
    const auto good = required_are_good(ask);
    if (!good) return std::nullopt;
    Instant from = *good;
    const auto last = searched_.find({group, ask.owner});
    if (last != searched_.end() && last->second.first == epoch_) {
        if (!last->second.second) return std::nullopt;
        from = std::max(from, *last->second.second);
    }
    const Shape& shape = ask.demand.shape;
    const Supply& all = supply(partition, ask.key);
    const Supply::Amounts need{
        shape.share > 1 ? 0 : static_cast<std::int64_t>(least_cores_in_all(ask.demand, pool_)),
        static_cast<std::int64_t>(std::max<std::uint64_t>(
            shape.gpu_total(), std::uint64_t{shape.nodes_min} * ask.demand.least.gpus))};
    const auto found = search(partition, ask, all, need, from);
    if (group != 0)
        searched_[{group, ask.owner}] = {epoch_,
                                         found ? std::optional(found->start) : std::nullopt};
    return found;
}

// When some node of the partition gets more, or may be used by others.
std::optional<Instant> Planner::next_moment(PartitionIndex partition, const Supply& all,
                                            Instant behind) const {
    auto next = all.next_growth(behind);
    const auto& windows = pool_.windows().moments(partition);
    const auto window = windows.upper_bound({behind, FreeIndex::kNone});
    if (window != windows.end() && (!next || window->first < *next)) next = window->first;
    return next;
}

// Tries the moments at which the partition has enough in all; after some tries at growing
// distances.
std::optional<Planned> Planner::search(PartitionIndex partition, const Ask& ask, const Supply& all,
                                       const Supply::Amounts& need, Instant from) {
    std::size_t distance = 1;
    for (int tries = 0; tries < kSearchTriesMax; ++tries) {
        // In a reservation of its own it may have to go before its limit.
        const Seconds stay = ask.owner == kNobody ? ask.limit : Seconds{0};
        const auto start = all.first_with(need, from, stay);
        if (!start || *start > horizon_) return std::nullopt;
        const View view{.start = *start,
                        .end = *start + ask.limit,
                        .key = ask.key,
                        .future = true,
                        .outlook = &outlook_,
                        .owner = ask.owner};
        looked_at_ += pool_.order(partition).size();
        if (auto picks = place(pool_, partition, ask.demand, view))
            return Planned{*start, std::move(*picks), ask.owner};
        if (tries >= kSearchTriesInARow) distance *= 2;
        from = *start;
        for (std::size_t skip = 0; skip < distance; ++skip) {
            const auto next = next_moment(partition, all, from);
            if (!next && skip == 0) return std::nullopt;
            if (!next) break;
            from = *next;
        }
    }
    return std::nullopt;
}

// In each reservation that it may run in, or outside; the earliest of them.
std::optional<Planned> Planner::plan(std::uint32_t group, PartitionIndex partition,
                                     const Demand& demand, Seconds limit, QueueKey key) {
    if (demand.impossible) return std::nullopt;
    // A single question is not worth the trouble.
    if (group != 0) bottlenecks_.take_in(outlook_, key);
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
    const std::uint32_t cores = shape.share > 1 ? 0 : least_cores(demand, pool_);
    const bool one_node = nodes == 1 && !shape.spread;
    const bool plain =
        demand.required.empty() && !shape.contiguous && (shape.gpus_per_job.empty() || one_node);
    const bool too_large = one_node && !shape.tasks_by_node && shape.share <= 1 &&
                           least_cores_in_all(demand, pool_) > pool_.cores_max(partition);
    if (plain && !too_large && (shape.tasks_by_node || shape.spread || nodes == 1)) {
        const bool parts = shape.spread && !shape.tasks_by_node;
        const Ask ask{demand,
                      cores,
                      parts ? (shape.tasks + nodes - 1) / nodes : shape.tasks,
                      !shape.gpus_per_job.empty(),
                      limit,
                      key,
                      owner};
        Front fresh;
        Front& front = group == 0 ? fresh : fronts_[{group, owner}];
        front.walk.partition = partition;
        front.seen.resize(pool_.order(partition).size());
        front.tried.resize(front.seen.size());
        if (auto planned = plan_alike(front, ask, nodes)) return planned;
        if (shape.tasks_by_node && shape.gpus_per_job.empty()) return std::nullopt;
    }
    const Ask ask{demand, cores, shape.tasks_by_node ? shape.tasks : 1, false, limit, key, owner};
    return plan_by_search(group, partition, ask);
}

}  // namespace switchyard::core::sched
