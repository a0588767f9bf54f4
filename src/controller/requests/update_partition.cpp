#include "controller/requests/requests.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {

void handle_update_partition(RequestContext& context, Session& session,
                             const wire::Request& request) {
    auto update = wire::decode(request.update_partition());
    if (!update) return context.calls.refuse(session, request.id(), update.error());
    const bool suspends = update->preempt_mode == model::PreemptMode::Suspend;
    if (suspends && !context.config.preempt_mode.gang) {
        const Failure refused =
            fail(Errc::InvalidArgument, "PreemptMode=SUSPEND requires GANG in slurm.conf too");
        return context.calls.refuse(session, request.id(), refused.error);
    }
    context.step(core::event::UpdatePartition{.token = context.calls.ask(session, request.id()),
                                              .caller = session.caller,
                                              .update = *std::move(update)});
}

}  // namespace switchyard::controller
