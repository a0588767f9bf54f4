#include <algorithm>

#include "controller/queries/long_reply.hpp"
#include "controller/queries/visibility.hpp"
#include "controller/requests/replies.hpp"
#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

// Concealed ones too: whether to show them is the command's choice (--all).
void handle_partitions(Controller& controller, Session& session, const wire::Request& request) {
    LongReply reply(controller, session, request.id(),
                    [](wire::Reply& each) { each.mutable_partitions(); });
    const std::string& wanted = request.partitions().name();
    const std::vector<std::string> concealed = concealed_partitions(controller, session.caller);
    for (const model::Partition& partition : controller.cluster().partitions()) {
        if (!wanted.empty() && wanted != partition.name) continue;
        wire::Partition* one = reply.next().mutable_partitions()->add_partitions();
        wire::encode(partition, one);
        one->set_concealed(std::ranges::find(concealed, partition.name) != concealed.end());
        // Shown is what applies.
        const core::Settings::Preempt& preempt = controller.cluster().settings().preempt;
        if (preempt.by_tier && !partition.preempt_mode)
            one->set_preempt_mode(std::string(model::to_string(preempt.mode)));
        reply.added(one->ByteSizeLong());
    }
    reply.finish();
}

void handle_update_partition(Controller& controller, Session& session,
                             const wire::Request& request) {
    auto update = wire::decode(request.update_partition());
    if (!update) return controller.finish(session, failure_frame(request.id(), update.error()));
    const bool suspends = update->preempt_mode == model::PreemptMode::Suspend;
    if (suspends && !controller.config().preempt_mode.gang) {
        const Failure refused =
            fail(Errc::InvalidArgument, "PreemptMode=SUSPEND requires GANG in slurm.conf too");
        return controller.finish(session, failure_frame(request.id(), refused.error));
    }
    controller.step(core::event::UpdatePartition{.token = controller.ask(session, request.id()),
                                                 .caller = session.caller,
                                                 .update = *std::move(update)});
}

}  // namespace switchyard::controller
