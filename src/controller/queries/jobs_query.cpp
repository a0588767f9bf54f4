#include "controller/links/replies.hpp"
#include "controller/queries/job_streams.hpp"
#include "controller/queries/queries.hpp"
#include "controller/turn/payloads.hpp"
#include "model/rights.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

struct ScriptAsk {
    SessionId session;
    std::uint64_t request = 0;
    model::Rights rights;
    bool with_environment = false;
};

void finish_script(QueryContext& context, const ScriptAsk& ask,
                   const Result<std::optional<std::string>>& found) {
    const auto [session, request] = std::pair(ask.session, ask.request);
    if (!found) return context.calls.refuse(session, request, found.error());
    wire::JobPayload payload;
    const bool parsed = *found && payload.ParseFromString(**found);
    const bool has_environment = ask.with_environment && payload.environment_size() > 0;
    if (!parsed || (payload.script().empty() && !has_environment)) {
        // A job without a batch script, as scontrol says it.
        return context.calls.refuse(session, request, fail(Errc::InvalidJobId).error);
    }
    wire::Reply reply;
    reply.set_id(request);
    reply.set_last(true);
    reply.mutable_script()->set_script(payload.script());
    if (ask.with_environment) {
        *reply.mutable_script()->mutable_environment() = payload.environment();
    }
    context.calls.finish(session, reply.SerializeAsString());
}

// On the reader's thread: of a job that may be long over.
Result<std::optional<std::string>> read_past_script(store::Reader& reader, const ScriptAsk& ask,
                                                    JobId id) {
    const std::vector<JobId> ids{id};
    SY_TRY(const store::HistoryChunk chunk, reader.fetch(ids, false));
    if (chunk.jobs.empty()) return fail(Errc::InvalidJobId);
    const model::Job& job = chunk.jobs.front();
    if (!ask.rights.may_read_script(job.spec->uid)) return fail(Errc::AccessDenied);
    return reader.payload(payload_of(job));
}

}  // namespace

void handle_jobs(QueryContext& context, Session& session, const wire::Request& request) {
    if (request.jobs().history()) {
        context.streams.start_history(session, request.id(), request.jobs());
    } else {
        context.streams.start(session, request.id(), request.jobs());
    }
}

// The script is the owner's own; administrators may read it too.
void handle_script(QueryContext& context, Session& session, const wire::Request& request) {
    const ScriptAsk ask{.session = session.id,
                        .request = request.id(),
                        .rights = context.cluster.rights_of(session.caller),
                        .with_environment = request.script().history()};
    if (request.script().history()) {
        return context.reader.ask(
            [&context, ask, id = JobId{request.script().job()}](store::Reader& reader) {
                auto script = read_past_script(reader, ask, id);
                context.loop.post([&context, ask, script = std::move(script)] {
                    finish_script(context, ask, script);
                });
            });
    }
    const model::JobSelector selector{
        .job = JobId{request.script().job()}, .elements = {}, .step = {}};
    const auto found = context.cluster.find(selector);
    if (found.empty()) {
        return context.calls.refuse(session, request.id(), fail(Errc::InvalidJobId).error);
    }
    const model::Job& job = *found.front();
    if (!ask.rights.may_read_script(job.spec->uid)) {
        return context.calls.refuse(session, request.id(), fail(Errc::AccessDenied).error);
    }
    context.reader.ask([&context, payload = payload_of(job), ask](store::Reader& reader) {
        auto script = reader.payload(payload);
        context.loop.post(
            [&context, ask, script = std::move(script)] { finish_script(context, ask, script); });
    });
}

}  // namespace switchyard::controller
