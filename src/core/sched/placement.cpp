// placement.cpp: candidates, choice, distribution of tasks.

#include "core/sched/placement.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/assert.hpp"
#include "core/sched/idle.hpp"
#include "core/sched/open_cores.hpp"

namespace switchyard::core::sched {
namespace {

struct Candidate {
    NodeIndex node;
    std::uint32_t place;  // In the order of the partition.
    Fit fit;
    bool required;
};

// The room when everyone who leaves by `at` has left.
Room room_at(const NodeEntry& node, Instant at) {
    Room room = node.free;
    for (const Holding& holding : node.holdings) {
        if (holding.until > at) break;
        add(room, holding.room);
        --room.holders;
    }
    return room.holders == 0 ? empty_room(node) : room;
}

// The room of an idle node beside what is spoken for.
std::optional<Room> rest_of(const NodeEntry& node, NodeIndex index, const Taken& taken) {
    Room room = empty_room(node);
    const auto found = taken.find(index);
    if (found == taken.end()) return room;
    const auto& [less, whole] = found->second;
    if (whole) return std::nullopt;
    subtract(room, less);
    room.holders += less.holders;
    return room;
}

bool users_agree(const NodeEntry& node, const Shape& shape, std::uint32_t uid) {
    for (const Holding& holding : node.holdings) {
        if ((holding.single_user || shape.single_user) && holding.uid != uid) return false;
    }
    return true;
}

class Chooser {
  public:
    Chooser(const NodePool& pool, PartitionIndex partition, const Demand& demand, const View& view)
        : pool_(pool),
          partition_(partition),
          demand_(demand),
          shape_(demand.shape),
          view_(view),
          least_(demand.least) {
        const auto& last = pool.reservations().last_key();
        // In a reservation it may be gone before its limit: that is looked at node by node.
        least_.heeds = last && *last < view.key && view.owner == kNobody;
        least_.end = view.end;
        least_.cores = least_cores(demand, pool);
    }

    std::optional<std::vector<Pick>> choose(std::uint32_t* found);

  private:
    bool consider(std::uint32_t place);
    bool cores_suffice() const;
    bool gather_required();
    bool gather();
    bool enough() const { return enough(chosen_); }
    bool enough(std::span<const Candidate> nodes) const;
    bool completes(std::size_t required) const;
    bool is_largest(const Fit& fit);
    bool take_fewest();
    void keep_contiguous();
    std::vector<Pick> distribute();
    void spread_gpus(std::vector<Pick>& picks) const;
    std::uint32_t next_place(std::uint32_t from) const;

    const NodePool& pool_;
    PartitionIndex partition_;
    const Demand& demand_;
    const Shape& shape_;
    const View& view_;
    Least least_;
    std::vector<Candidate> chosen_;
    std::optional<Fit> largest_;  // Of any node if it were idle; found out when it matters.
};

std::uint32_t Chooser::next_place(std::uint32_t from) const {
    if (view_.future || view_.empty || shape_.share > 1) {
        return from < pool_.order(partition_).size() ? from : FreeIndex::kNone;
    }
    return pool_.index(partition_).find(from, least_);
}

// Adds the node at this place if it is of use.
bool Chooser::consider(std::uint32_t place) {
    const NodeIndex index = pool_.order(partition_)[place];
    const NodeEntry& node = pool_.node(index);
    if (std::uint64_t{node.cores} * node.threads < demand_.cpus_min) return false;
    if (!is_candidate(node, index, demand_)) return false;
    const std::uint32_t cores = shape_.share > 1 ? 0 : least_.cores;
    if (view_.future && node.cores_at(view_.start) < cores) return false;
    const auto room = room_in(pool_, index, view_, cores);
    if (!room || room->cores < cores) return false;
    if (!view_.empty && !view_.future && !users_agree(node, shape_, view_.uid)) return false;
    const Fit found = fit(node, *room, demand_, pool_.unit());
    if (found.tasks == 0) return false;
    const bool required = std::ranges::binary_search(demand_.required, index);
    chosen_.push_back({index, place, found, required});
    return true;
}

bool Chooser::enough(std::span<const Candidate> nodes) const {
    FitSum sum;
    for (const Candidate& candidate : nodes) sum.add(candidate.fit);
    return sum.enough_for(shape_);
}

// A job that may be spread at will fits nowhere if all that is free is less than it needs. (Of one
// with a number of nodes it would not be known how many are missing.)
bool Chooser::cores_suffice() const {
    if (view_.future || view_.empty || shape_.share > 1 || shape_.nodes_min > 1) return true;
    return least_cores_in_all(demand_, pool_) <= pool_.index(partition_).total_cores();
}

bool Chooser::gather_required() {
    for (const NodeIndex index : demand_.required) {
        const auto& places = pool_.node(index).places;
        const auto here =
            std::ranges::find(places, partition_, &std::pair<PartitionIndex, std::uint32_t>::first);
        if (here == places.end() || !consider(here->second)) return false;
    }
    return true;
}

// Collects candidates in order, and stops when there are enough of them. A job without a node count
// first looks for one node that holds it whole. One with a count takes the first that come; if so
// many do not hold it, the largest.
bool Chooser::gather() {
    if (demand_.impossible || !cores_suffice() || !gather_required()) return false;
    const std::size_t required = chosen_.size();
    const bool fewest = !shape_.spread;
    if (required >= shape_.nodes_min && enough()) return true;
    if (required >= shape_.nodes_max) return false;
    FitSum sum;
    for (const Candidate& candidate : chosen_) sum.add(candidate.fit);
    FitSum of_largest = sum;
    const auto note = [&](const Candidate& candidate) {
        if (!candidate.required && is_largest(candidate.fit)) of_largest.add(candidate.fit);
    };
    const std::size_t wanted = shape_.fewest_nodes ? shape_.nodes_min : shape_.nodes_max;
    for (std::uint32_t place = next_place(0); place != FreeIndex::kNone;
         place = next_place(place + 1)) {
        if (required > 0 &&
            std::ranges::binary_search(demand_.required, pool_.order(partition_)[place]))
            continue;
        if (!consider(place)) continue;
        if (fewest) {
            // The first node that completes the request alone (with the required ones) ends the
            // search.
            if (completes(required)) {
                chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(required),
                              chosen_.end() - 1);
                return true;
            }
        } else {
            sum.add(chosen_.back().fit);
            if (!shape_.contiguous && sum.nodes >= wanted && sum.nodes <= shape_.nodes_max &&
                sum.enough_for(shape_))
                return true;
            if (sum.nodes < shape_.nodes_max) continue;
            if (sum.nodes == shape_.nodes_max) {
                for (std::size_t i = 0; i + 1 < chosen_.size(); ++i) note(chosen_[i]);
            }
        }
        note(chosen_.back());
        if (of_largest.nodes >= shape_.nodes_max || (fewest && of_largest.enough_for(shape_)))
            break;
    }
    // More than it may have: of those the largest are taken, too.
    return fewest || sum.nodes > shape_.nodes_max ? take_fewest() : enough();
}

// No node that is looked at later can hold more. When there are enough of these, the largest are
// known.
bool Chooser::is_largest(const Fit& fit) {
    if (shape_.contiguous) return false;
    if (!largest_) largest_ = largest_fit(pool_, partition_, demand_).value_or(Fit{});
    return fit.gpus == largest_->gpus && fit.tasks == largest_->tasks;
}

// Whether the latest candidate is enough, alone with the required ones.
bool Chooser::completes(std::size_t required) const {
    if (required == 0) return enough(std::span(&chosen_.back(), 1));
    std::vector<Candidate> few(chosen_.begin(),
                               chosen_.begin() + static_cast<std::ptrdiff_t>(required));
    few.push_back(chosen_.back());
    return enough(few);
}

// Of all candidates the largest, until there are enough; ties go to the earlier.
bool Chooser::take_fewest() {
    if (shape_.contiguous) return enough();
    std::ranges::sort(chosen_, [](const Candidate& a, const Candidate& b) {
        if (a.required != b.required) return a.required;
        if (a.fit.gpus != b.fit.gpus) return a.fit.gpus > b.fit.gpus;
        if (a.fit.tasks != b.fit.tasks) return a.fit.tasks > b.fit.tasks;
        return a.place < b.place;
    });
    std::vector<Candidate> all = std::move(chosen_);
    chosen_.clear();
    FitSum sum;
    for (Candidate& candidate : all) {
        if (chosen_.size() == shape_.nodes_max) break;
        sum.add(candidate.fit);
        chosen_.push_back(std::move(candidate));
        if (sum.enough_for(shape_)) return true;
    }
    return false;
}

// Cuts the choice to the first run of neighbouring nodes that is enough; empty if there is none.
void Chooser::keep_contiguous() {
    std::ranges::sort(chosen_, {}, &Candidate::node);
    const std::vector<Candidate> all = std::move(chosen_);
    for (std::size_t first = 0; first < all.size(); ++first) {
        chosen_.clear();
        for (std::size_t at = first; at < all.size() && chosen_.size() < shape_.nodes_max; ++at) {
            if (at > first && all[at].node != all[at - 1].node + 1) break;
            chosen_.push_back(all[at]);
            const auto has = [](const Candidate& c) { return c.required; };
            const auto required = static_cast<std::size_t>(std::ranges::count_if(chosen_, has));
            if (required == demand_.required.size() && enough()) return;
        }
    }
    chosen_.clear();
}

void Chooser::spread_gpus(std::vector<Pick>& picks) const {
    for (std::size_t kind = 0; kind < std::min(kGpuKindsMax, shape_.gpus_per_job.size()); ++kind) {
        std::uint64_t left = shape_.gpus_per_job[kind].count;
        for (std::size_t at = 0; at < picks.size(); ++at) {
            const std::uint64_t others = picks.size() - at - 1;
            const std::uint64_t most = left > others ? left - others : (left > 0 ? 1 : 0);
            picks[at].gpus[kind] = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(most, chosen_[at].fit.gpus[kind]));
            left -= picks[at].gpus[kind];
        }
        for (std::size_t at = 0; at < picks.size() && left > 0; ++at) {
            const std::uint64_t more =
                std::min<std::uint64_t>(left, chosen_[at].fit.gpus[kind] - picks[at].gpus[kind]);
            picks[at].gpus[kind] += static_cast<std::uint32_t>(more);
            left -= more;
        }
    }
}

// Tasks per node: the first nodes are filled, one task is kept for each node behind. Whole nodes
// share evenly.
std::vector<Pick> Chooser::distribute() {
    std::ranges::sort(chosen_, {}, &Candidate::node);
    std::vector<Pick> picks;
    for (const Candidate& candidate : chosen_) picks.push_back({candidate.node, 0, {}});
    if (shape_.tasks_by_node) {
        for (Pick& pick : picks) pick.tasks = shape_.tasks;
    } else if (shape_.whole_nodes || shape_.overcommit) {
        std::uint32_t left = shape_.tasks;
        for (bool moved = true; left > 0 && moved;) {
            moved = false;
            for (std::size_t at = 0; at < picks.size() && left > 0; ++at) {
                if (!shape_.overcommit && picks[at].tasks >= chosen_[at].fit.tasks) continue;
                ++picks[at].tasks;
                --left;
                moved = true;
            }
        }
    } else {
        std::uint32_t left = shape_.tasks;
        for (std::size_t at = 0; at < picks.size(); ++at) {
            const auto others = static_cast<std::uint32_t>(picks.size() - at - 1);
            const std::uint32_t most = left > others ? left - others : (left > 0 ? 1 : 0);
            picks[at].tasks = std::min(most, chosen_[at].fit.tasks);
            left -= picks[at].tasks;
            if (shape_.tasks_open) picks[at].tasks = std::max(1u, picks[at].tasks);
        }
    }
    spread_gpus(picks);
    return picks;
}

std::optional<std::vector<Pick>> Chooser::choose(std::uint32_t* found) {
    if (!gather()) {
        if (found != nullptr) *found = static_cast<std::uint32_t>(chosen_.size());
        return std::nullopt;
    }
    if (shape_.contiguous) keep_contiguous();
    if (chosen_.empty()) return std::nullopt;
    return distribute();
}

// The least room while the job would be there, whoever has which of the cores.
Room least_room(const NodePool& pool, NodeIndex index, const View& view, Instant end,
                std::uint32_t cores) {
    if (view.outlook != nullptr)
        return view.outlook->line(index, view.key).least(view.start, end, cores);
    const NodeEntry& node = pool.node(index);
    Room room = view.future ? room_at(node, view.start) : node.free;
    const auto all = pool.reservations().on(index);
    const auto concerns = [&](const Reserved& r) {
        return r.key < view.key && r.from < end && r.until > view.start;
    };
    if (std::ranges::none_of(all, concerns)) return room;
    // The least room is found at the start and wherever a reservation begins.
    const auto checked_at = [&](Instant at, Room base) {
        for (const Reserved& other : all) {
            if (!concerns(other) || other.from > at || other.until <= at) continue;
            if (other.whole) base = Room{};
            subtract(base, other.room);
            ++base.holders;
        }
        return base;
    };
    Room least = checked_at(view.start, room);
    for (const Reserved& reserved : all) {
        if (!concerns(reserved) || reserved.from <= view.start) continue;
        keep_least(least, checked_at(reserved.from, room_at(node, reserved.from)));
    }
    return least;
}

}  // namespace

std::optional<Room> room_in(const NodePool& pool, NodeIndex index, const View& view,
                            std::uint32_t cores) {
    const NodeEntry& node = pool.node(index);
    const Windows& windows = pool.windows();
    if (view.empty) {
        if (!view.every_node && !node.usable) return std::nullopt;
        const auto home = windows.admit_home(index, view.owner);
        if (!home) return std::nullopt;
        std::optional<Room> room = empty_room(node);
        if (view.taken != nullptr) room = rest_of(node, index, *view.taken);
        if (room && home->is_partial()) limit_to(*room, node, *home);
        return room;
    }
    if (view.future ? !node.usable : !node.open) return std::nullopt;
    if (!view.future && node.held_whole()) return std::nullopt;
    const auto admission = admission_in(pool, index, view);
    if (!admission) return std::nullopt;
    Room room = least_room(pool, index, view, admission->until, cores);
    if (admission->is_partial() && room.cores >= cores)
        limit_to_open(room, pool, index, view, *admission);
    return room;
}

std::optional<std::vector<Pick>> place(const NodePool& pool, PartitionIndex partition,
                                       const Demand& demand, const View& view,
                                       std::uint32_t* found) {
    if (found != nullptr) *found = 0;
    return Chooser(pool, partition, demand, view).choose(found);
}

Room planned_room(const NodePool& pool, const Demand& demand, const Pick& pick) {
    const NodeEntry& node = pool.node(pick.node);
    const std::uint64_t job_gpus =
        std::accumulate(pick.gpus.begin(), pick.gpus.end(), std::uint64_t{0});
    const std::uint64_t gpus = gpus_on_node(node, demand.shape, pick.tasks, job_gpus);
    Room room;
    room.cores = cores_for(node, demand.shape, pick.tasks, gpus, pool.unit());
    room.memory = memory_for(node, demand.shape, room.cores, gpus);
    room.holders = 1;
    for (const GresNeed& need : gres_for(node, demand.shape, pick.tasks, pick.gpus)) {
        std::uint64_t left = need.count;
        for (std::size_t at = 0; at < node.pools.size() && left > 0; ++at) {
            if (node.pools[at].name != need.name) continue;
            if (!need.type.empty() && node.pools[at].type != need.type) continue;
            const std::uint64_t taken = std::min(left, node.pools[at].total);
            room.gres[at] += static_cast<std::uint32_t>(taken);
            left -= taken;
        }
    }
    return room;
}

}  // namespace switchyard::core::sched
