#include "controller/filters.hpp"

#include <algorithm>

#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

template <class List, class Value>
bool allows(const List& list, const Value& value) {
    return list.empty() || std::ranges::find(list, value) != list.end();
}

std::vector<std::string> strings(const google::protobuf::RepeatedPtrField<std::string>& from) {
    return {from.begin(), from.end()};
}

bool in_partitions(const std::vector<std::string>& wanted, const model::Job& job) {
    if (allows(wanted, job.partition)) return true;
    // A job that waits for one of several partitions is in the queue of each.
    if (!std::holds_alternative<model::Pending>(job.phase)) return false;
    return std::ranges::any_of(job.spec->partitions,
                               [&](const std::string& name) { return allows(wanted, name); });
}

bool on_nodes(const std::vector<std::string>& wanted, const model::Job& job) {
    if (wanted.empty()) return true;
    const model::Allocation* allocation = model::allocation_of(job);
    if (allocation == nullptr) return false;
    return std::ranges::any_of(allocation->nodes, [&](const model::NodeGrant& grant) {
        return allows(wanted, grant.node);
    });
}

bool in_states(const std::vector<model::JobState>& wanted, const model::Job& job) {
    return allows(wanted, model::state_of(job)) || allows(wanted, model::base_state_of(job));
}

}  // namespace

Result<core::event::JobFilter> to_filter(const wire::JobFilter& message) {
    core::event::JobFilter filter;
    for (const wire::JobSelector& selector : message.jobs()) {
        SY_TRY(model::JobSelector decoded, wire::decode(selector));
        filter.jobs.push_back(std::move(decoded));
    }
    filter.uids.assign(message.uids().begin(), message.uids().end());
    filter.names = strings(message.names());
    filter.partitions = strings(message.partitions());
    filter.accounts = strings(message.accounts());
    filter.qos = strings(message.qos());
    filter.nodes = strings(message.nodes());
    filter.reservations = strings(message.reservations());
    filter.wckeys = strings(message.wckeys());
    for (const std::uint32_t state : message.states()) {
        if (state > static_cast<std::uint32_t>(model::JobState::ResvDelHold)) {
            return fail(Errc::InvalidArgument, "unknown job state in the request");
        }
        filter.states.push_back(static_cast<model::JobState>(state));
    }
    return filter;
}

bool matches(const core::event::JobFilter& filter, const model::Job& job) {
    const model::JobSpec& spec = *job.spec;
    return allows(filter.uids, spec.uid) && allows(filter.names, spec.name) &&
           in_partitions(filter.partitions, job) && allows(filter.accounts, spec.account) &&
           allows(filter.qos, spec.qos) && on_nodes(filter.nodes, job) &&
           allows(filter.reservations, spec.reservation) && allows(filter.wckeys, spec.wckey) &&
           in_states(filter.states, job);
}

bool JobMatcher::operator()(const model::Job& job) const {
    if (!all_states && filter.states.empty() && std::holds_alternative<model::Ended>(job.phase))
        return false;
    return matches(filter, job);
}

}  // namespace switchyard::controller
