#include "model/job_filter.hpp"

#include <algorithm>
#include <variant>

namespace switchyard::model {
namespace {

template <class List, class Value>
bool allows(const List& list, const Value& value) {
    return list.empty() || std::ranges::binary_search(list, value);
}

bool in_partitions(const std::vector<std::string>& wanted, const Job& job) {
    if (allows(wanted, job.partition)) return true;
    // A job that waits for one of several partitions is in the queue of each.
    if (!std::holds_alternative<Pending>(job.phase)) return false;
    return std::ranges::any_of(job.spec->partitions,
                               [&](const std::string& name) { return allows(wanted, name); });
}

bool on_nodes(const std::vector<std::string>& wanted, const Job& job) {
    if (wanted.empty()) return true;
    const Allocation* allocation = allocation_of(job);
    if (allocation == nullptr) return false;
    return std::ranges::any_of(allocation->nodes,
                               [&](const NodeGrant& grant) { return allows(wanted, grant.node); });
}

bool in_states(const std::vector<JobState>& wanted, const Job& job) {
    return allows(wanted, state_of(job)) || allows(wanted, base_state_of(job));
}

}  // namespace

void sort_lists(JobFilter& filter) {
    for (auto* list : {&filter.names, &filter.partitions, &filter.accounts, &filter.qos,
                       &filter.nodes, &filter.reservations, &filter.wckeys})
        std::ranges::sort(*list);
    std::ranges::sort(filter.uids);
    std::ranges::sort(filter.states);
}

bool matches(const JobFilter& filter, const Job& job) {
    const JobSpec& spec = *job.spec;
    return allows(filter.uids, spec.uid) && allows(filter.names, spec.name) &&
           in_partitions(filter.partitions, job) && allows(filter.accounts, spec.account) &&
           allows(filter.qos, spec.qos) && on_nodes(filter.nodes, job) &&
           allows(filter.reservations, spec.reservation) && allows(filter.wckeys, spec.wckey) &&
           in_states(filter.states, job);
}

}  // namespace switchyard::model
