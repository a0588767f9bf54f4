#include "controller/queries/pids.hpp"

#include "controller/links/replies.hpp"
#include "controller/queries/queries.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {
namespace {

constexpr Millis kWait{5000};  // A node that is silent for longer is left out.

}  // namespace

struct Pids::Gathering {
    SessionId session;
    std::optional<std::uint32_t> step;
    wire::Reply reply;
    std::set<std::string> missing;  // Nodes that have not answered.
    io::Loop::Timer timer;
};

Pids::Pids(QueryContext& context) : context_(context) {}
Pids::~Pids() = default;

void Pids::start(Session& session, std::uint64_t request, const wire::PidsQuery& query) {
    const auto& jobs = context_.cluster.jobs();
    const auto job = jobs.find(JobId{query.job()});
    const model::Running* run = job != jobs.end() ? model::run_of(job->second) : nullptr;
    if (job == jobs.end() || run == nullptr) {
        return context_.calls.refuse(session, request, fail(Errc::InvalidJobId).error);
    }
    if (!context_.cluster.rights_of(session.caller).may_see_processes(job->second.spec->uid))
        return context_.calls.refuse(session, request, fail(Errc::AccessDenied).error);
    const std::uint64_t id = ++last_id_;
    auto gathering = std::make_unique<Gathering>();
    gathering->session = session.id;
    if (query.has_step()) gathering->step = query.step();
    gathering->reply.set_id(request);
    gathering->reply.set_last(true);
    gathering->reply.mutable_pids();

    wire::ControllerToAgent ask;
    ask.mutable_pids()->set_id(id);
    ask.mutable_pids()->set_job(query.job());
    ask.mutable_pids()->set_usage(query.usage());
    const std::string frame = ask.SerializeAsString();
    for (const model::NodeGrant& grant : run->allocation.nodes) {
        if (!query.node().empty() && query.node() != grant.node) continue;
        if (context_.agents.send(grant.node, frame)) gathering->missing.insert(grant.node);
    }
    gathering->timer = context_.loop.after(kWait, [this, id] { finish(id); });
    const bool nobody = gathering->missing.empty();
    gatherings_.emplace(id, std::move(gathering));
    if (nobody) finish(id);
}

void Pids::on_answer(const std::string& node, const wire::PidsAnswer& answer) {
    const auto it = gatherings_.find(answer.id());
    if (it == gatherings_.end() || it->second->missing.erase(node) == 0) return;
    Gathering& gathering = *it->second;
    for (const wire::PidEntry& entry : answer.pids()) {
        if (gathering.step && *gathering.step != entry.step()) continue;
        *gathering.reply.mutable_pids()->add_pids() = entry;
    }
    for (const wire::StepUsageEntry& entry : answer.usage()) {
        if (gathering.step && *gathering.step != entry.key().step()) continue;
        *gathering.reply.mutable_pids()->add_usage() = entry;
    }
    if (gathering.missing.empty()) finish(answer.id());
}

void Pids::finish(std::uint64_t id) {
    const auto it = gatherings_.find(id);
    if (it == gatherings_.end()) return;
    const std::unique_ptr<Gathering> gathering = std::move(it->second);
    gatherings_.erase(it);
    context_.calls.finish(gathering->session, gathering->reply.SerializeAsString());
}

void handle_pids(QueryContext& context, Session& session, const wire::Request& request) {
    context.pids.start(session, request.id(), request.pids());
}

}  // namespace switchyard::controller
