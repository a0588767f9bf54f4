// crontab.cpp: scrontab: the text of a user's crontab is a file beside the store; its lines are
// jobs of the core's.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/limits.hpp"
#include "controller/links/replies.hpp"
#include "controller/requests/requests.hpp"
#include "os/files.hpp"
#include "wire/codec.hpp"

namespace switchyard::controller {
namespace {

std::string path_of(const RequestContext& context, std::uint32_t uid) {
    return fmt::format("{}/crontab.{}", context.config.state_dir, uid);
}

void answer_text(RequestContext& context, Session& session, const wire::Request& request,
                 std::uint32_t uid) {
    wire::Reply reply;
    reply.set_id(request.id());
    reply.set_last(true);
    // No file is an empty crontab.
    const auto text = os::read_file(path_of(context, uid));
    reply.mutable_crontab()->set_text(text ? *text : std::string());
    context.calls.finish(session, reply.SerializeAsString());
}

Status keep_text(const RequestContext& context, std::uint32_t uid, const std::string& text) {
    const std::string path = path_of(context, uid);
    if (text.empty()) {
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) return os::errno_failure(path);
        return {};
    }
    return os::write_new_file(path, text, 0600);
}

}  // namespace

void handle_crontab(RequestContext& context, Session& session, const wire::Request& request) {
    const wire::CrontabRequest& crontab = request.crontab();
    const std::uint32_t uid = crontab.uid();
    const wire::CrontabAction action = crontab.action();
    const auto refuse = [&](const Error& error) {
        context.calls.refuse(session, request.id(), error);
    };
    const bool own = session.caller.uid == uid;
    if (!context.cluster.rights_of(session.caller).may_change_crontab(uid))
        return refuse(fail(Errc::AccessDenied).error);
    if (action == wire::CRONTAB_GET) return answer_text(context, session, request, uid);
    if (crontab.text().size() > limits::kScriptBytesMax) {
        return refuse({Errc::InvalidArgument,
                       fmt::format("the crontab is too long: {} bytes, at most {} are allowed",
                                   crontab.text().size(), limits::kScriptBytesMax)});
    }

    core::event::Crontab event;
    event.caller = own ? session.caller : model::Caller{uid, uid};
    if (const auto user = context.names.find(uid); user && !own) event.caller.gid = user->gid;
    HeldBulk held;
    for (const wire::SubmitRequest& line : crontab.jobs()) {
        auto spec = wire::decode(line.spec());
        if (!spec) return refuse(spec.error());
        spec->user = context.names.name_of(uid);
        spec->group = context.names.group_name(event.caller.gid);
        event.jobs.push_back(*std::move(spec));
        auto payload = wire::hold_bytes(*session.share, line.payload().SerializeAsString());
        if (!payload) return refuse(payload.error());
        held.crontab.push_back(*std::move(payload));
    }
    // The text first: lines without a job do less harm than jobs that no line tells of.
    const std::string text = action == wire::CRONTAB_REMOVE ? std::string() : crontab.text();
    const auto old = os::read_file(path_of(context, uid));
    if (const Status kept = keep_text(context, uid, text); !kept) return refuse(kept.error());
    held.on_failure = [&context, uid, old = old ? *old : std::string()] {
        if (!keep_text(context, uid, old)) context.log.error("a crontab was lost");
    };
    event.token = context.calls.ask(session, request.id(), std::move(held));
    context.step(std::move(event));
}

}  // namespace switchyard::controller
