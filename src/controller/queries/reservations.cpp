// reservations.cpp: reservations and licenses: what scontrol asks of them. Names of users and
// groups have been looked up (needed_names.hpp); what they mean is the core's to say.
#include <algorithm>

#include "controller/names/names.hpp"
#include "controller/queries/long_reply.hpp"
#include "controller/requests/replies.hpp"
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

void handle_update_reservation(Controller& controller, Session& session,
                               const wire::Request& request) {
    auto update = wire::decode(request.update_reservation());
    if (!update) return controller.finish(session, failure_frame(request.id(), update.error()));
    // The core refuses all others: nobody makes us look up names who may not use them.
    if (controller.is_operator(session.caller)) {
        look_up_users(controller.names(), *update);
        if (const Status groups = look_up_groups(controller.names(), *update); !groups)
            return controller.finish(session, failure_frame(request.id(), groups.error()));
    }
    controller.step(core::event::UpdateReservation{.token = controller.ask(session, request.id()),
                                                   .caller = session.caller,
                                                   .update = *std::move(update)});
}

void handle_reservations(Controller& controller, Session& session, const wire::Request& request) {
    const auto now = controller.now().time_since_epoch().count();
    LongReply reply(controller, session, request.id(),
                    [now](wire::Reply& each) { each.mutable_reservations()->set_now(now); });
    const core::Cluster& cluster = controller.cluster();
    const std::string& wanted = request.reservations().name();
    for (const auto& [name, reservation] : cluster.reservations()) {
        if (!wanted.empty() && wanted != name) continue;
        wire::ReservationView* view = reply.next().mutable_reservations()->add_reservations();
        wire::encode(reservation, view->mutable_reservation());
        for (const std::string& each : reservation.nodes) {
            const model::Node* node = cluster.find_node(each);
            if (node == nullptr) continue;
            const std::uint32_t all =
                node->config.cores() > 0 ? node->config.cores() : node->config.cpus;
            const auto part = reservation.cores.find(each);
            const auto cores = part == reservation.cores.end()
                                   ? all
                                   : static_cast<std::uint32_t>(part->second.size());
            view->set_cores(view->cores() + cores);
            view->set_cpus(view->cpus() + cores * node->config.cpus / std::max(1u, all));
        }
        reply.added(view->ByteSizeLong());
    }
    reply.finish();
}

void handle_licenses(Controller& controller, Session& session, const wire::Request& request) {
    wire::Reply reply = answer_to(request);
    wire::LicensesReply* out = reply.mutable_licenses();
    out->set_now(controller.now().time_since_epoch().count());
    for (const model::LicenseUse& each : controller.cluster().licenses()) {
        wire::LicenseUse* license = out->add_licenses();
        license->set_name(each.name);
        license->set_total(each.total);
        license->set_used(each.used);
        license->set_reserved(each.reserved);
    }
    controller.finish(session, reply.SerializeAsString());
}

}  // namespace switchyard::controller
