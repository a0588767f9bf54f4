#include "cli/live_usage.hpp"

#include "wire/codec.hpp"

namespace switchyard::cli {

Status ask_nodes(client::Connection& connection, const model::Job& job, bool pids, LiveSteps& to) {
    if (model::run_of(job) == nullptr || model::is_finished(job)) return {};
    wire::Request request;
    request.mutable_pids()->set_job(job.id.value);
    request.mutable_pids()->set_usage(!pids);
    SY_TRY(const wire::Reply reply, connection.call(request));
    for (const wire::StepUsageEntry& entry : reply.pids().usage()) {
        model::merge(to.usage[wire::decode(entry.key())], wire::decode(entry.usage()));
    }
    for (const wire::PidEntry& entry : reply.pids().pids())
        to.pids[StepId{entry.step()}].push_back(std::to_string(entry.pid()));
    return {};
}

}  // namespace switchyard::cli
