#include <algorithm>

#include "controller/links/replies.hpp"
#include "controller/queries/long_reply.hpp"
#include "controller/queries/queries.hpp"
#include "controller/queries/visibility.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

// Names that do not exist leave nothing: the command says which.
void answer_nodes(QueryContext& context, Session& session, const wire::Request& request) {
    const DurableView& durable = context.durable;
    const auto now = context.now().time_since_epoch().count();
    LongReply reply(context.calls, session, request.id(),
                    [now](wire::Reply& each) { each.mutable_nodes()->set_now(now); });
    std::vector<std::string> concealed;
    if (request.nodes().conceal())
        concealed = concealed_partitions(context.cluster, context.names, session.caller);
    const auto add = [&](const model::Node& node) {
        wire::Node* one = reply.next().mutable_nodes()->add_nodes();
        wire::encode(durable.differs() ? durable.as_stored(node) : node, one);
        if (!concealed.empty()) one->clear_partitions();
        for (const std::string& name : node.partitions) {
            if (concealed.empty()) break;
            if (std::ranges::find(concealed, name) == concealed.end()) one->add_partitions(name);
        }
        reply.added(one->ByteSizeLong());
    };
    if (request.nodes().names().empty()) {
        for (const model::Node& node : context.cluster.nodes()) add(node);
    }
    for (const std::string& name : request.nodes().names()) {
        const model::Node* node = context.cluster.find_node(name);
        if (node != nullptr) add(*node);
    }
    reply.finish();
}

}  // namespace

void handle_nodes(QueryContext& context, Session& session, const wire::Request& request) {
    if (context.durable.is_ready()) return answer_nodes(context, session, request);
    context.durable.when_ready([&context, id = session.id, request] {
        if (Session* asking = context.sessions.find(id)) answer_nodes(context, *asking, request);
    });
}

}  // namespace switchyard::controller
