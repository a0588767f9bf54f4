// update_reservation.cpp: names of users and groups have been looked up (needed_names.hpp); what
// they mean is the core's to say.
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

void look_up_users(const Names& names, model::ReservationUpdate& update) {
    for (model::NamedUsers& user : update.users.names) {
        user.uids.clear();
        if (const auto uid = names.uid_of(user.name)) user.uids.push_back(*uid);
    }
}

// A group nobody is listed in may still be somebody's own.
Status look_up_groups(const Names& names, model::ReservationUpdate& update) {
    for (model::NamedUsers& group : update.groups.names) {
        auto members = names.members_of(group.name);
        if (!members) return fail(Errc::InvalidGroupId);
        group.uids = *std::move(members);
    }
    return {};
}

}  // namespace

void handle_update_reservation(RequestContext& context, Session& session,
                               const wire::Request& request) {
    auto update = wire::decode(request.update_reservation());
    if (!update) return context.calls.refuse(session, request.id(), update.error());
    // The core refuses all others: nobody makes us look up names who may not use them.
    if (context.cluster.rights_of(session.caller).may_administer()) {
        look_up_users(context.names, *update);
        if (const Status groups = look_up_groups(context.names, *update); !groups)
            return context.calls.refuse(session, request.id(), groups.error());
    }
    context.step(core::event::UpdateReservation{.token = context.calls.ask(session, request.id()),
                                                .caller = session.caller,
                                                .update = *std::move(update)});
}

}  // namespace switchyard::controller
