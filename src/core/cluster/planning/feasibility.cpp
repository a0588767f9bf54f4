// feasibility.cpp: see feasibility.hpp.

#include "core/cluster/planning/feasibility.hpp"

#include <algorithm>
#include <tuple>

#include "core/sched/idle.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core {

using model::Reason;

// Nodes came or went, or groups came: who has hope?
void Feasibility::review() {
    const bool all = seen_ != epoch_;
    seen_ = epoch_;
    const auto fresh = queue_.take_new_groups();
    bool regained = false;
    for (sched::Group* group : all ? queue_.groups() : fresh) {
        const bool was_hopeless = group->hopeless;
        look_at(*group);
        regained |= was_hopeless && !group->hopeless;
    }
    if (regained) queue_.wake_all();
    // Those who are first in line may have too few nodes now, or no longer.
    if (all) reasons_.look_at_fronts();
}

// Could a group start if everything usable were idle? If not, its jobs wait for nodes to come back
// and must not hold up others.
void Feasibility::look_at(sched::Group& group) {
    if (group.hope_checked == epoch_) return;
    group.hope_checked = epoch_;
    if (group.demand.shape.only_job != 0)
        return settle(group, het_.no_hope(world_.jobs.at(group.members.begin()->job)));
    settle(group, no_hope(group));
}

// Why not even usable nodes that are all idle would hold it; none: they would.
std::optional<std::pair<Reason, std::string>> Feasibility::no_hope(
    const sched::Group& group) const {
    const auto holds = [&](sched::WindowOwner owner) {
        return sched::could_hold(world_.pool, group.partition, group.demand, sched::Nodes::Usable,
                                 owner);
    };
    const std::vector<sched::WindowOwner> owners = sched::owners_of(group.demand.shape);
    if (std::ranges::any_of(owners, holds)) return std::nullopt;
    if (owners.back() != sched::kNobody && holds(sched::kNobody))
        return std::pair(Reason::Reservation, std::string());
    std::vector<std::string> missing;
    for (const NodeIndex node : group.demand.required) {
        if (!world_.pool.node(node).usable) missing.push_back(world_.pool.node(node).name);
    }
    if (missing.empty()) return std::pair(Reason::NodeDown, std::string());
    return std::pair(Reason::ReqNodeNotAvail,
                     "ReqNodeNotAvail, UnavailableNodes:" + model::compress_hostlist(missing));
}

void Feasibility::settle(sched::Group& group, std::optional<std::pair<Reason, std::string>> why) {
    if (!why && !group.hopeless) return;
    if (why) std::tie(group.why, group.why_detail) = *std::move(why);
    queue_.set_hopeless(group, why.has_value());
    for (const sched::QueueKey& key : group.members) {
        world_.jobs.fold_idle();
        Job& job = world_.jobs.at(key.job);
        backfill_.drop(job.id);
        reasons_.set(job, group.partition);
    }
}

}  // namespace switchyard::core
