// queue.cpp: bookkeeping of groups. Every operation is logarithmic in the queue.

#include "core/sched/queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.hpp"

namespace switchyard::core::sched {
void Queue::clear() {
    groups_.clear();
    by_id_.clear();
    new_groups_.clear();
    places_.clear();
    jobs_ = 0;
    ready_.assign(ready_.size(), {});
    fronts_.assign(fronts_.size(), {});
    blocked_.assign(blocked_.size(), {});
    offers_.clear();
}

void Queue::set_partition_count(std::size_t count) {
    SY_ASSERT(places_.empty());
    ready_.assign(count, {});
    fronts_.assign(count, {});
    blocked_.assign(count, {});
}

// Enters the group where its state and its foremost member put it.
void Queue::list(Group& group) {
    if (group.members.empty()) return;
    const QueueKey key = *group.members.begin();
    if (!group.blocked) {
        ready_[group.partition][class_of(group)].emplace(key, &group);
        return;
    }
    blocked_[group.partition].add(group);
}

void Queue::unlist(Group& group) {
    if (group.members.empty()) return;
    const QueueKey key = *group.members.begin();
    if (group.blocked) {
        blocked_[group.partition].remove(group);
        return;
    }
    auto& classes = ready_[group.partition];
    const auto found = classes.find(class_of(group));
    SY_ASSERT(found != classes.end());
    SY_ASSERT(found->second.erase(key) == 1);
    if (found->second.empty()) classes.erase(found);
}

Group& Queue::make_group(Groups::iterator at, const NodePool& pool) {
    at->second = std::make_unique<Group>();
    Group& group = *at->second;
    group.id = next_group_++;
    group.partition = at->first.partition;
    group.demand = make_demand(at->first.shape, pool);
    group.limit = at->first.limit;
    const auto alike = [&](Groups::iterator other) {
        return other->first.partition == at->first.partition &&
               other->first.shape == at->first.shape;
    };
    if (at != groups_.begin() && alike(std::prev(at))) {
        group.shape_id = std::prev(at)->second->shape_id;
    } else if (std::next(at) != groups_.end() && alike(std::next(at))) {
        group.shape_id = std::next(at)->second->shape_id;
    } else {
        group.shape_id = next_shape_++;
    }
    by_id_.emplace(group.id, &group);
    new_groups_.push_back(group.id);
    return group;
}

void Queue::add(QueueKey key, PartitionIndex partition, const Shape& shape,
                std::optional<Seconds> limit, const NodePool& pool) {
    const auto [found, is_new] = groups_.try_emplace(GroupKey{partition, shape, limit});
    Group& group = is_new ? make_group(found, pool) : *found->second;
    // Only the foremost member decides where the group stands.
    const bool foremost = group.members.empty() || key < *group.members.begin();
    if (foremost) unlist(group);
    // A newcomer that needs what others ahead of it miss misses it too.
    const auto missed = is_new ? blocked_[partition].missed_by_like(group, key) : std::nullopt;
    if (missed) {
        group.blocked = true;
        group.due = *missed;
        group.line = line_ - 1;  // It was not tried itself: in line it will be.
    }
    SY_ASSERT(group.members.insert(key).second);
    if (foremost) list(group);
    if (!group.hopeless) fronts_[partition].insert(key);
    const auto number = static_cast<std::uint32_t>(places_of(key.job).size());
    places_.insert({key, number, &group});
    if (number == 0) ++jobs_;
}

Queue::Places::const_iterator Queue::first_place(JobId job) const {
    Place wanted;
    wanted.key.job = job;
    const auto at = places_.lower_bound(wanted);
    return at != places_.end() && at->key.job == job ? at : places_.end();
}

std::vector<Queue::Place> Queue::places_of(JobId job) const {
    std::vector<Place> places;
    for (auto at = first_place(job); at != places_.end() && at->key.job == job; ++at)
        places.push_back(*at);
    return places;
}

void Queue::remove(JobId job) {
    const std::vector<Place> places = places_of(job);
    if (places.empty()) return;
    --jobs_;
    for (const Place& place : places) {
        places_.erase(place);
        Group& group = *place.group;
        const bool foremost = *group.members.begin() == place.key;
        if (foremost) unlist(group);
        group.members.erase(place.key);
        if (foremost) list(group);
        fronts_[group.partition].erase(place.key);
        if (group.members.empty()) {
            by_id_.erase(group.id);
            groups_.erase(GroupKey{group.partition, group.demand.shape, group.limit});
        }
    }
}

// Of two groups that a job stands in: the one of the partition it named first.
bool Queue::stands_first(JobId job, const Group& group, const Group& other) const {
    for (const Place& place : places_of(job)) {
        if (place.group == &group) return true;
        if (place.group == &other) return false;
    }
    return false;
}

Group* Queue::foremost(const NodePool& pool) {
    Group* best = nullptr;
    for (PartitionIndex p = 0; p < ready_.size(); ++p) {
        const std::uint32_t cpus = pool.index(p).most_cores() * pool.threads_max();
        for (const auto& [least, groups] : ready_[p]) {
            if (least > cpus) break;
            const auto& [key, group] = *groups.begin();
            if (best == nullptr || key < *best->members.begin() ||
                (key == *best->members.begin() && stands_first(key.job, *group, *best))) {
                best = group;
            }
        }
    }
    return best;
}

Group* Queue::foremost_in_line(const NodePool& pool) {
    Group* best = nullptr;
    for (PartitionIndex p = 0; p < fronts_.size(); ++p) {
        if (fronts_[p].empty()) continue;
        const QueueKey key = *fronts_[p].begin();
        if (best != nullptr && *best->members.begin() < key) continue;
        const auto is_ahead = [&](PartitionIndex other) {
            return !fronts_[other].empty() && pool.overlap(p, other) &&
                   fronts_[other].begin()->job != key.job && *fronts_[other].begin() < key;
        };
        bool first = true;
        for (PartitionIndex other = 0; first && other < fronts_.size(); ++other)
            first = !is_ahead(other);
        Group* group = first ? group_of(key.job, p) : nullptr;
        if (group != nullptr && (!group->blocked || group->line != line_)) best = group;
    }
    return best;
}

void Queue::block(Group& group, std::uint32_t missing) {
    unlist(group);
    group.due = std::max(1u, missing);
    group.line = line_;
    group.blocked = true;
    list(group);
}

void Queue::set_hopeless(Group& group, bool hopeless) {
    if (group.hopeless == hopeless) return;
    group.hopeless = hopeless;
    for (const QueueKey& key : group.members) {
        if (hopeless) {
            fronts_[group.partition].erase(key);
        } else {
            fronts_[group.partition].insert(key);
        }
    }
}

std::vector<Offer> Queue::take_offers(const NodePool& pool, Instant now) {
    std::vector<Offer> offers;
    ++wakes_;
    for (const NodeIndex node : std::exchange(offers_, {})) {
        const NodeEntry& entry = pool.node(node);
        if (!entry.open || entry.held_whole()) continue;
        for (const auto& [partition, place] : entry.places)
            blocked_[partition].offer(offers, pool, node, partition, now);
    }
    return offers;
}

void Queue::wake_all() {
    ++wakes_;
    offers_.clear();
    for (BlockedShapes& shapes : blocked_) {
        for (Group* group : shapes.take_all()) {
            group->blocked = false;
            list(*group);
        }
    }
}

void Queue::wake_line() {
    offers_.clear();
    ++line_;
}

std::size_t Queue::blocked_shapes() const {
    std::size_t count = 0;
    for (const BlockedShapes& shapes : blocked_) count += shapes.size();
    return count;
}

std::vector<Group*> Queue::take_new_groups() {
    std::vector<Group*> fresh;
    for (const std::uint32_t id : new_groups_) {
        if (const auto found = by_id_.find(id); found != by_id_.end())
            fresh.push_back(found->second);
    }
    new_groups_.clear();
    return fresh;
}

std::vector<Group*> Queue::groups() const {
    std::vector<Group*> all;
    for (const auto& [key, group] : groups_) all.push_back(group.get());
    std::ranges::sort(all, {}, &Group::id);
    return all;
}

std::optional<QueueKey> Queue::front(PartitionIndex partition) const {
    const auto& front = fronts_[partition];
    if (front.empty()) return std::nullopt;
    return *front.begin();
}

std::optional<Queue::Stand> Queue::next_behind(const std::optional<Stand>& after) const {
    std::optional<Stand> best;
    for (PartitionIndex p = 0; p < fronts_.size(); ++p) {
        const auto& front = fronts_[p];
        auto at = front.begin();
        if (after)
            at = p > after->second ? front.lower_bound(after->first)
                                   : front.upper_bound(after->first);
        if (at != front.end() && (!best || *at < best->first)) best = Stand{*at, p};
    }
    return best;
}

Group* Queue::group_of(JobId job, PartitionIndex partition) {
    for (auto at = first_place(job); at != places_.end() && at->key.job == job; ++at) {
        if (at->group->partition == partition) return at->group;
    }
    return nullptr;
}

void Queue::check_invariants() const {
    std::size_t members = 0, hopeful = 0, ready_groups = 0;
    for (const auto& [key, group] : groups_) {
        SY_ASSERT(!group->members.empty());
        SY_ASSERT(by_id_.at(group->id) == group.get());
        members += group->members.size();
        if (!group->hopeless) hopeful += group->members.size();
        if (!group->blocked) ++ready_groups;
        SY_ASSERT(blocked_[group->partition].contains(*group) == group->blocked);
    }
    std::size_t ready_listed = 0, fronts = 0;
    for (const auto& classes : ready_) {
        for (const auto& [least, groups] : classes) {
            ready_listed += groups.size();
            for (const auto& [key, group] : groups) SY_ASSERT(*group->members.begin() == key);
        }
    }
    for (const auto& front : fronts_) fronts += front.size();
    SY_ASSERT(by_id_.size() == groups_.size());
    SY_ASSERT(places_.size() == members && jobs_ <= members);
    SY_ASSERT(ready_listed == ready_groups);
    SY_ASSERT(fronts == hopeful);
}

}  // namespace switchyard::core::sched
