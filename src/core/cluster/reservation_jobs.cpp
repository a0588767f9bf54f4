// reservation_jobs.cpp: what reservations mean to a job: which it may run in, what it is told while
// it waits, and when it has to be gone.

#include <algorithm>

#include "base/text.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

using model::Reason;
using model::Reservation;
using model::ReservationFlag;

bool binds_nodes(const Reservation& reservation) {
    return !reservation.is(ReservationFlag::Flex) && !reservation.is(ReservationFlag::AnyNodes);
}

// Its jobs may begin now.
bool is_open(const Reservation& reservation, Instant now) {
    return reservation.is_active(now) || reservation.is(ReservationFlag::Flex);
}

}  // namespace

// What a job names is there, may be used by its user, and has the nodes it names.
Status Cluster::Impl::check_reservations(const JobSpec& spec, const Caller& caller) const {
    if (spec.reservation.empty()) return {};
    for (const std::string_view name : split(spec.reservation, ',')) {
        const auto found = calendar_.find(std::string(name));
        if (found == calendar_.end()) return fail(Errc::InvalidReservation);
        const Reservation& reservation = found->second;
        if (reservation.end <= now_ && !reservation.recurs()) return fail(Errc::InvalidReservation);
        std::vector<std::string> groups = caller.groups;
        groups.push_back(spec.group);
        // Whoever runs the cluster may use all of it.
        const bool admitted =
            is_operator(caller) || (model::admits(reservation, spec.uid, groups, spec.account) &&
                                    model::admits_job(reservation, spec.qos, spec.partitions));
        if (!admitted) return fail(Errc::ReservationAccess);
        if (reservation.floats) return fail(Errc::ReservationNotUsable);
        if (!binds_nodes(reservation)) continue;
        for (const std::string& node : spec.required_nodes) {
            if (std::ranges::find(reservation.nodes, node) == reservation.nodes.end())
                return fail(Errc::NodesOutsideReservation);
        }
    }
    return {};
}

// The reservations it runs in, as the scheduler knows them. A job that names none may be drawn into
// one that is magnetic, and runs outside if there is no room.
std::vector<sched::WindowOwner> Cluster::Impl::owners_of(const JobSpec& spec) const {
    std::vector<sched::WindowOwner> owners;
    if (calendar_.empty()) return owners;
    if (!spec.reservation.empty()) {
        for (const std::string_view name : split(spec.reservation, ',')) {
            const auto found = calendar_.find(std::string(name));
            if (found != calendar_.end()) owners.push_back(found->second.id);
        }
        return owners;
    }
    for (const auto& [name, reservation] : calendar_) {
        if (reservation.is(ReservationFlag::Magnetic) && reservation.is_active(now_) &&
            model::admits(reservation, spec.uid, {spec.group}, spec.account) &&
            model::admits_job(reservation, spec.qos, spec.partitions))
            owners.push_back(reservation.id);
    }
    if (!owners.empty()) owners.push_back(sched::kNobody);
    return owners;
}

sched::Shape Cluster::Impl::shape_for(const JobSpec& spec, PartitionIndex partition) const {
    sched::Shape shape = sched::shape_of(spec, partitions_[partition], settings_);
    shape.owners = owners_of(spec);
    shape.licenses = spec.licenses;
    return shape;
}

const Reservation* Cluster::Impl::find_reservation(sched::WindowOwner owner) const {
    for (const auto& [name, reservation] : calendar_) {
        if (reservation.id == owner) return &reservation;
    }
    return nullptr;
}

// When the first of its reservations begins; none: it has none, or one of them is open.
std::optional<Instant> Cluster::Impl::opens_at(const JobSpec& spec) const {
    std::optional<Instant> first;
    for (const sched::WindowOwner owner : owners_of(spec)) {
        const Reservation* reservation = find_reservation(owner);
        if (reservation == nullptr || is_open(*reservation, now_)) return std::nullopt;
        if (!first || reservation->start < *first) first = reservation->start;
    }
    return first;
}

// Why a job that could have nodes now is kept from them by reservations of others; none: it is not.
std::optional<std::string> Cluster::Impl::window_problem(const Job& job,
                                                         const sched::Group& group) const {
    if (pool_.windows().empty() || !group.demand.shape.owners.empty()) return std::nullopt;
    sched::View view{.start = now_,
                     .end = now_ + group.limit.value_or(sched::kForever),
                     .key = key_of(job, partitions_[group.partition]),
                     .uid = job.spec->uid};
    if (sched::place(pool_, group.partition, group.demand, view)) return std::nullopt;
    view.past_windows = true;
    const auto picks = sched::place(pool_, group.partition, group.demand, view);
    if (!picks) return std::nullopt;
    const bool maint = std::ranges::any_of(*picks, [&](const sched::Pick& pick) {
        return pool_.windows().is_maintained(pick.node, sched::kNobody, view.start, view.end);
    });
    return maint ? "ReqNodeNotAvail, Reserved for maintenance"
                 : "ReqNodeNotAvail, May be reserved for other job";
}

// By its own limit, and by the end of the reservation it runs in.
std::optional<Instant> Cluster::Impl::end_of_run(const JobSpec& spec,
                                                 const model::Running& run) const {
    std::optional<Instant> end;
    if (spec.time_limit && !spec.time_limit->unlimited)
        end = run.started + spec.time_limit->seconds + run.suspended_for;
    const auto found = calendar_.find(run.reservation);
    if (found == calendar_.end()) return end;
    const Reservation& reservation = found->second;
    const bool here = reservation.start <= run.started && run.started < reservation.end;
    if (!here || reservation.is(ReservationFlag::Flex)) return end;
    const Instant over = reservation.end + settings_.reservation_over_run;
    return end ? std::min(*end, over) : over;
}

// Its limit or its reservation has changed: nodes and scheduler hear of the new end.
void Cluster::Impl::reset_end(Job& job) {
    auto* run = std::get_if<model::Running>(&job.phase);
    if (run == nullptr) return;
    run->ends_by = end_of_run(*job.spec, *run);
    touch(job);
    for (const model::NodeGrant& grant : run->allocation.nodes)
        emit(effect::SetDeadline{grant.node, job.id, job.attempt, deadline_of(job)});
    set_until(job);
    retime(job);
    planning_.backfill.capacity_changed();
}

}  // namespace switchyard::core
