#include "controller/requests/needed_names.hpp"

#include <algorithm>

#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

// Groups are looked up only where a partition or a reservation asks for them.
bool groups_matter(const core::Cluster& cluster, bool for_submission) {
    const auto closed = [](const model::Partition& each) { return !each.allow_groups.empty(); };
    const auto of_groups = [](const auto& each) { return !each.second.groups.empty(); };
    return std::ranges::any_of(cluster.partitions(), closed) ||
           (for_submission && std::ranges::any_of(cluster.reservations(), of_groups));
}

NeededNames for_submission(const Session& session, const core::Cluster& cluster) {
    const model::Caller& caller = session.caller;
    NeededNames needed;
    needed.keys = {NameKey::user(caller.uid), NameKey::group(caller.gid)};
    if (groups_matter(cluster, true))
        needed.keys.push_back(NameKey::group_names_of(caller.uid, caller.gid));
    needed.required = true;
    needed.soon = {NameKey::groups_of(caller.uid, caller.gid)};
    return needed;
}

NeededNames for_crontab(const wire::CrontabRequest& crontab, const Session& session,
                        const model::Rights& rights, const Names& known) {
    NeededNames needed;
    const bool own = session.caller.uid == crontab.uid();
    if (crontab.jobs().empty() || !rights.may_change_crontab(crontab.uid())) return needed;
    needed.required = true;
    needed.keys = {NameKey::user(crontab.uid())};
    const auto user = known.find(crontab.uid());
    const std::uint32_t others = user ? user->gid : crontab.uid();
    needed.keys.push_back(NameKey::group(own ? session.caller.gid : others));
    return needed;
}

// Administrators' words: nobody else makes us look up names.
NeededNames for_reservation(const wire::ReservationUpdate& request, const model::Rights& rights) {
    NeededNames needed;
    const auto update = wire::decode(request);
    if (!rights.may_administer() || !update) return needed;
    needed.required = true;
    for (const model::NamedUsers& user : update->users.names)
        needed.keys.push_back(NameKey::user_named(user.name));
    for (const model::NamedUsers& group : update->groups.names)
        needed.keys.push_back(NameKey::members_of(group.name));
    return needed;
}

NeededNames for_token(const std::string& user, const Session& session,
                      const model::Rights& rights) {
    NeededNames needed;
    needed.required = true;
    needed.keys = {NameKey::user(session.caller.uid)};
    if (!user.empty() && rights.may_make_token(false, true))
        needed.keys.push_back(NameKey::user_named(user));
    return needed;
}

// Which partitions the caller is not shown.
NeededNames for_list(const Session& session, const model::Rights& rights,
                     const core::Cluster& cluster) {
    NeededNames needed;
    if (!rights.may_see_hidden_partitions() && groups_matter(cluster, false))
        needed.keys = {NameKey::group_names_of(session.caller.uid, session.caller.gid)};
    return needed;
}

NeededNames for_diag(const Figures& figures) {
    NeededNames needed;
    for (const auto& [uid, calls] : figures.by_user) needed.keys.push_back(NameKey::user(uid));
    return needed;
}

}  // namespace

NeededNames needed_names(const wire::Request& request, const Session& session,
                         const model::Rights& rights, const core::Cluster& cluster,
                         const Figures& figures, const Names& known) {
    using Body = wire::Request::BodyCase;
    switch (request.body_case()) {
        case Body::kSubmit:
            return for_submission(session, cluster);
        case Body::kCrontab:
            return for_crontab(request.crontab(), session, rights, known);
        case Body::kUpdateReservation:
            return for_reservation(request.update_reservation(), rights);
        case Body::kToken:
            return for_token(request.token().user(), session, rights);
        case Body::kUpdateNode:
        case Body::kReboot:
        case Body::kSetTriggers:
            return {.keys = {NameKey::user(session.caller.uid)}, .required = false, .soon = {}};
        case Body::kJobs:
        case Body::kNodes:
        case Body::kPartitions:
            return for_list(session, rights, cluster);
        case Body::kDiag:
            return for_diag(figures);
        default:
            return {};
    }
}

}  // namespace switchyard::controller
