// reservation_jobs.cpp: what reservations mean to a job: which it may run in, what it is told while
// it waits, and when it has to be gone.

#include "core/cluster/reservations/calendar.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "core/cluster/job_facts.hpp"
#include "core/sched/placement.hpp"

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

Status Calendar::check(const JobSpec& spec, const Caller& caller) const {
    if (spec.reservation.empty()) return {};
    for (const std::string_view name : split(spec.reservation, ',')) {
        const auto found = all_.find(std::string(name));
        if (found == all_.end()) return fail(Errc::InvalidReservation);
        const Reservation& reservation = found->second;
        if (reservation.end <= world_.now && !reservation.recurs())
            return fail(Errc::InvalidReservation);
        std::vector<std::string> groups = caller.groups;
        groups.push_back(spec.group);
        // Whoever runs the cluster may use all of it.
        const bool admitted = world_.rights_of(caller).may_use_all_reservations() ||
                              (model::admits(reservation, spec.uid, groups, spec.account) &&
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
std::vector<sched::WindowOwner> Calendar::owners_of(const JobSpec& spec) const {
    std::vector<sched::WindowOwner> owners;
    if (all_.empty()) return owners;
    if (!spec.reservation.empty()) {
        for (const std::string_view name : split(spec.reservation, ',')) {
            const auto found = all_.find(std::string(name));
            if (found != all_.end()) owners.push_back(found->second.id);
        }
        return owners;
    }
    for (const auto& [name, reservation] : all_) {
        if (reservation.is(ReservationFlag::Magnetic) && reservation.is_active(world_.now) &&
            model::admits(reservation, spec.uid, {spec.group}, spec.account) &&
            model::admits_job(reservation, spec.qos, spec.partitions))
            owners.push_back(reservation.id);
    }
    if (!owners.empty()) owners.push_back(sched::kNobody);
    return owners;
}

sched::Shape Calendar::shape_for(const JobSpec& spec, PartitionIndex partition) const {
    sched::Shape shape = sched::shape_of(spec, world_.partitions[partition], world_.settings);
    shape.owners = owners_of(spec);
    shape.licenses = spec.licenses;
    return shape;
}

std::optional<Instant> Calendar::opens_at(const JobSpec& spec) const {
    std::optional<Instant> first;
    for (const sched::WindowOwner owner : owners_of(spec)) {
        const Reservation* reservation = find(owner);
        if (reservation == nullptr || is_open(*reservation, world_.now)) return std::nullopt;
        if (!first || reservation->start < *first) first = reservation->start;
    }
    return first;
}

std::optional<std::string> Calendar::window_problem(const Job& job,
                                                    const sched::Group& group) const {
    if (world_.pool.windows().empty() || !group.demand.shape.owners.empty()) return std::nullopt;
    sched::View view{.start = world_.now,
                     .end = world_.now + group.limit.value_or(sched::kForever),
                     .key = key_of(job, world_.partitions[group.partition]),
                     .uid = job.spec->uid};
    if (sched::place(world_.pool, group.partition, group.demand, view)) return std::nullopt;
    view.past_windows = true;
    const auto picks = sched::place(world_.pool, group.partition, group.demand, view);
    if (!picks) return std::nullopt;
    const bool maint = std::ranges::any_of(*picks, [&](const sched::Pick& pick) {
        return world_.pool.windows().is_maintained(pick.node, sched::kNobody, view.start, view.end);
    });
    return maint ? "ReqNodeNotAvail, Reserved for maintenance"
                 : "ReqNodeNotAvail, May be reserved for other job";
}

std::optional<Instant> Calendar::end_of_run(const JobSpec& spec, const model::Running& run) const {
    std::optional<Instant> end;
    if (spec.time_limit && !spec.time_limit->unlimited)
        end = run.started + spec.time_limit->seconds + run.suspended_for;
    const auto found = all_.find(run.reservation);
    if (found == all_.end()) return end;
    const Reservation& reservation = found->second;
    const bool here = reservation.start <= run.started && run.started < reservation.end;
    if (!here || reservation.is(ReservationFlag::Flex)) return end;
    const Instant over = reservation.end + world_.settings.reservation_over_run;
    return end ? std::min(*end, over) : over;
}

}  // namespace switchyard::core
