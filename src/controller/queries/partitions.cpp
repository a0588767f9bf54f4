#include <algorithm>

#include "controller/links/replies.hpp"
#include "controller/queries/long_reply.hpp"
#include "controller/queries/queries.hpp"
#include "controller/queries/visibility.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

// Concealed ones too: whether to show them is the command's choice (--all).
void handle_partitions(QueryContext& context, Session& session, const wire::Request& request) {
    LongReply reply(context.calls, session, request.id(),
                    [](wire::Reply& each) { each.mutable_partitions(); });
    const std::string& wanted = request.partitions().name();
    const std::vector<std::string> concealed =
        concealed_partitions(context.cluster, context.names, session.caller);
    for (const model::Partition& partition : context.cluster.partitions()) {
        if (!wanted.empty() && wanted != partition.name) continue;
        wire::Partition* one = reply.next().mutable_partitions()->add_partitions();
        wire::encode(partition, one);
        one->set_concealed(std::ranges::find(concealed, partition.name) != concealed.end());
        // Shown is what applies.
        const core::Settings::Preempt& preempt = context.cluster.settings().preempt;
        if (preempt.by_tier && !partition.preempt_mode)
            one->set_preempt_mode(std::string(model::to_string(preempt.mode)));
        reply.added(one->ByteSizeLong());
    }
    reply.finish();
}

}  // namespace switchyard::controller
