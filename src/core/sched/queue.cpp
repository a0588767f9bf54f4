// queue.cpp: bookkeeping of groups. Every operation is logarithmic in the queue.

#include "core/sched/queue.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace switchyard::core::sched {

void Queue::clear() {
    groups_.clear();
    places_.clear();
    ready_.clear();
    everyone_.clear();
    fronts_.assign(fronts_.size(), {});
    blocked_.assign(blocked_.size(), {});
}

void Queue::set_partition_count(std::size_t count) {
    SY_ASSERT(places_.empty());
    fronts_.assign(count, {});
    blocked_.assign(count, {});
}

void Queue::ready(Group& group) {
    if (group.blocked || group.members.empty()) return;
    ready_[*group.members.begin()].push_back(&group);
}

void Queue::unready(const Group& group) {
    if (group.blocked || group.members.empty()) return;
    const auto found = ready_.find(*group.members.begin());
    SY_ASSERT(found != ready_.end());
    std::erase(found->second, &group);
    if (found->second.empty()) ready_.erase(found);
}

void Queue::add(QueueKey key, PartitionIndex partition, const Shape& shape,
                std::optional<Seconds> limit, const NodePool& pool) {
    const GroupKey group_key{partition, limit, shape};
    auto [found, is_new] = groups_.try_emplace(group_key);
    if (is_new) {
        found->second = std::make_unique<Group>();
        found->second->id = next_group_++;
        found->second->partition = partition;
        found->second->demand = make_demand(shape, pool);
        found->second->limit = limit;
    }
    Group& group = *found->second;
    unready(group);
    SY_ASSERT(group.members.insert(key).second);
    ready(group);
    if (!group.hopeless) {
        fronts_[partition].insert(key);
        everyone_.emplace(key, partition);
    }
    places_[key.job.value].push_back({key, &group});
}

std::vector<PartitionIndex> Queue::remove(JobId job) {
    std::vector<PartitionIndex> first_in;
    const auto found = places_.find(job.value);
    if (found == places_.end()) return first_in;
    for (const Place& place : found->second) {
        Group& group = *place.group;
        auto& front = fronts_[group.partition];
        if (!front.empty() && *front.begin() == place.key) first_in.push_back(group.partition);
        unready(group);
        group.members.erase(place.key);
        ready(group);
        front.erase(place.key);
        everyone_.erase({place.key, group.partition});
        if (group.members.empty()) {
            blocked_[group.partition].erase({group.demand.cpus_min, group.id});
            groups_.erase(GroupKey{group.partition, group.limit, group.demand.shape});
        }
    }
    places_.erase(found);
    return first_in;
}

Group* Queue::foremost() { return ready_.empty() ? nullptr : ready_.begin()->second.front(); }

void Queue::block(Group& group) {
    if (group.blocked) return;
    unready(group);
    group.blocked = true;
    blocked_[group.partition].emplace(std::pair(group.demand.cpus_min, group.id), &group);
}

void Queue::unblock(Group& group) {
    group.blocked = false;
    ready(group);
}

void Queue::set_hopeless(Group& group, bool hopeless) {
    if (group.hopeless == hopeless) return;
    group.hopeless = hopeless;
    for (const QueueKey& key : group.members) {
        if (hopeless) {
            fronts_[group.partition].erase(key);
            everyone_.erase({key, group.partition});
        } else {
            fronts_[group.partition].insert(key);
            everyone_.emplace(key, group.partition);
        }
    }
}

void Queue::wake(const std::vector<std::pair<PartitionIndex, std::uint32_t>>& partitions,
                 std::uint32_t cpus) {
    for (const auto& [partition, place] : partitions) {
        auto& blocked = blocked_[partition];
        while (!blocked.empty() && blocked.begin()->first.first <= cpus) {
            Group* group = blocked.begin()->second;
            blocked.erase(blocked.begin());
            unblock(*group);
        }
    }
}

void Queue::wake_all() {
    for (auto& blocked : blocked_) {
        for (const auto& [key, group] : blocked) unblock(*group);
        blocked.clear();
    }
}

std::optional<QueueKey> Queue::front(PartitionIndex partition) const {
    const auto& front = fronts_[partition];
    if (front.empty()) return std::nullopt;
    return *front.begin();
}

Group* Queue::group_of(JobId job, PartitionIndex partition) {
    const auto found = places_.find(job.value);
    if (found == places_.end()) return nullptr;
    for (const Place& place : found->second) {
        if (place.group->partition == partition) return place.group;
    }
    return nullptr;
}

void Queue::check_invariants() const {
    std::size_t members = 0, hopeful = 0, ready_groups = 0;
    for (const auto& [key, group] : groups_) {
        SY_ASSERT(!group->members.empty());
        members += group->members.size();
        if (!group->hopeless) hopeful += group->members.size();
        if (!group->blocked) ++ready_groups;
        const bool listed =
            blocked_[group->partition].contains({group->demand.cpus_min, group->id});
        SY_ASSERT(listed == group->blocked);
    }
    std::size_t ready_listed = 0, fronts = 0;
    for (const auto& [key, list] : ready_) ready_listed += list.size();
    for (const auto& front : fronts_) fronts += front.size();
    SY_ASSERT(places_.size() <= members);
    SY_ASSERT(ready_listed == ready_groups);
    SY_ASSERT(fronts == hopeful);
    SY_ASSERT(everyone_.size() == hopeful);
}

}  // namespace switchyard::core::sched
