// reservations.cpp: reservations and licenses, as they are.
#include <algorithm>

#include "controller/links/replies.hpp"
#include "controller/queries/long_reply.hpp"
#include "controller/queries/queries.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
void handle_reservations(QueryContext& context, Session& session, const wire::Request& request) {
    const auto now = context.now().time_since_epoch().count();
    LongReply reply(context.calls, session, request.id(),
                    [now](wire::Reply& each) { each.mutable_reservations()->set_now(now); });
    const core::Cluster& cluster = context.cluster;
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

void handle_licenses(QueryContext& context, Session& session, const wire::Request& request) {
    wire::Reply reply = answer_to(request);
    wire::LicensesReply* out = reply.mutable_licenses();
    out->set_now(context.now().time_since_epoch().count());
    for (const model::LicenseUse& each : context.cluster.licenses()) {
        wire::LicenseUse* license = out->add_licenses();
        license->set_name(each.name);
        license->set_total(each.total);
        license->set_used(each.used);
        license->set_reserved(each.reserved);
    }
    context.calls.finish(session, reply.SerializeAsString());
}

}  // namespace switchyard::controller
