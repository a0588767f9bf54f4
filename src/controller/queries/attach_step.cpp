#include "controller/queries/queries.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {

// sattach: the nodes of the step are told where another client of its streams is.
void handle_attach_step(QueryContext& context, Session& session, const wire::Request& request) {
    const wire::AttachStepRequest& attach = request.attach_step();
    const auto refuse = [&](Errc code) {
        context.calls.refuse(session, request.id(), fail(code).error);
    };
    const core::Cluster& cluster = context.cluster;
    const auto job = cluster.jobs().find(JobId{attach.job()});
    if (job == cluster.jobs().end()) return refuse(Errc::InvalidJobId);
    if (!context.cluster.rights_of(session.caller).may_use_streams(job->second.spec->uid))
        return refuse(Errc::AccessDenied);
    const StepKey key{job->first, job->second.attempt, StepId{attach.step()}};
    const auto step = cluster.steps().find(key);
    if (step == cluster.steps().end() || key.step == kBatchStep ||
        model::state_of(step->second) != model::JobState::Running)
        return refuse(Errc::InvalidStepId);
    wire::Reply reply;
    reply.set_id(request.id());
    reply.set_last(true);
    wire::encode(step->second, reply.mutable_step_made()->mutable_step());
    wire::encode(job->second, reply.mutable_step_made()->mutable_job());
    // Without an address it is only a question about the layout.
    if (!attach.io_key().empty()) {
        wire::ControllerToAgent order;
        wire::encode_key(key, order.mutable_attach_step()->mutable_key());
        *order.mutable_attach_step()->mutable_client() = attach;
        for (const std::string& node : step->second.running_nodes)
            context.agents.send(node, order.SerializeAsString());
    }
    context.calls.finish(session, reply.SerializeAsString());
}

}  // namespace switchyard::controller
