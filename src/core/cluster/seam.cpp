// seam.cpp: one function changes a job's phase, and hands the transition to all who keep something
// about jobs, in one order. What it made necessary for other jobs is done when it is complete.

#include <tuple>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

// Who hears of a transition, in this order. Capacity is counted before people are told; an array
// before the mail and the answers that speak for all of it.
auto Cluster::Impl::observers() {
    return std::tie(planning_, dependencies_, holdings_, licenses_, calendar_, arrays_, hets_,
                    counts_, launcher_, mail_, waiters_, triggers_, job_steps_, idle_gpus_, nonces_,
                    job_timers_);
}

template <class Act>
void Cluster::Impl::for_each_owner(Act act) {
    std::apply([&](Observer auto&... owner) { (act(owner), ...); }, observers());
}

void Cluster::Impl::tell(const Transition& transition) {
    for_each_owner([&](auto& owner) { owner.observe(transition); });
}

void Cluster::Impl::load(const Job& job) {
    for_each_owner([&](auto& owner) {
        if constexpr (requires { owner.load(job); }) owner.load(job);
    });
}

void Cluster::Impl::clear_owners() {
    for_each_owner([](auto& owner) {
        if constexpr (requires { owner.clear(); }) owner.clear();
    });
}

void Cluster::Impl::check_owners() {
    for_each_owner([](const auto& owner) {
        if constexpr (requires { owner.check(); }) owner.check();
    });
}

// The phase is the new one, and nobody knows yet.
Transition Cluster::Impl::enter(Job& job, model::JobPhase phase, Cause cause) {
    const Phase before = phase_of(job);
    job.phase = std::move(phase);
    touch(job);
    return {job, before, phase_of(job), cause};
}

void Cluster::Impl::change(Job& job, model::JobPhase phase, Cause cause) {
    tell(enter(job, std::move(phase), cause));
}

Cluster::Impl::Operation::Operation(Impl& cluster) : cluster_(cluster) {
    cluster_.world_.agenda.begin_change();
}

Cluster::Impl::Operation::~Operation() {
    if (cluster_.world_.agenda.end_change()) cluster_.settle();
}

// Whatever is on the agenda, and what comes of that.
void Cluster::Impl::settle() {
    Agenda& agenda = world_.agenda;
    agenda.begin_change();
    while (!agenda.empty()) {
        tell_planning();
        if (const auto id = agenda.take()) {
            if (Job* job = find_job(*id)) review(*job);
            continue;
        }
        for (const JobId id : agenda.take_ends()) {
            if (Job* job = find_job(id)) reset_end(*job);
        }
    }
    agenda.end_change();
}

// Nodes are open, described or usable, or reservations are, as they were not.
void Cluster::Impl::tell_planning() {
    const Agenda::NodeNews news = world_.agenda.take_nodes();
    for (const NodeIndex node : news.opened) planning_.capacity_freed(node);
    for (const NodeIndex node : news.described) planning_.node_described(node);
    if (news.came_or_went) calendar_.nodes_changed();
    if (news.came_or_went || news.redescribed) planning_.feasibility.usable_nodes_changed();
    if (!world_.agenda.take_windows_changed()) return;
    planning_.windows_changed();
    planning_.reasons.look_at_foremost();
}

}  // namespace switchyard::core
