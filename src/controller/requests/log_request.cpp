// log_request.cpp: scontrol setdebug, setdebugflags, schedloglevel: what the daemons log from now
// on, until their next start.
#include <fmt/format.h>

#include "base/log_level.hpp"
#include "base/text.hpp"
#include "controller/links/replies.hpp"
#include "controller/requests/requests.hpp"
#include "wire/proto/node.pb.h"
#include "wire/proto/request.pb.h"

namespace switchyard::controller {
namespace {

// The scheduler's log is a topic that has a command of its own.
constexpr std::string_view kScheduler = "sched";

Result<os::Log::Topic> topic_named(const std::string& name) {
    if (name == kScheduler) return os::Log::Topic::Scheduler;
    if (const auto topic = os::Log::find_topic(name)) return *topic;
    return fail(Errc::InvalidArgument,
                fmt::format("{}: there is nothing to log about it; there is {}", name,
                            join(os::Log::topic_names(), ", ")));
}

Status tell_agents(AdminContext& context, const wire::LogRequest& asked) {
    if (!asked.has_level())
        return fail(Errc::InvalidArgument, "agents have a level, and no flags, of what they log");
    for (const std::string& node : asked.nodes()) {
        if (context.cluster.find_node(node) == nullptr)
            return fail(Errc::InvalidNodeName, std::string(errc_text(Errc::InvalidNodeName)));
        if (!context.agents.is_connected(node))
            return fail(Errc::Unreachable, fmt::format("{}: its agent is not connected", node));
    }
    wire::ControllerToAgent message;
    message.mutable_log_level()->set_level(asked.level());
    for (const std::string& node : asked.nodes())
        context.agents.send(node, message.SerializeAsString());
    return {};
}

Status change(AdminContext& context, const wire::LogRequest& asked) {
    if (!asked.nodes().empty()) return tell_agents(context, asked);
    std::vector<std::pair<os::Log::Topic, bool>> topics;
    for (const std::string& name : asked.topics_on()) {
        SY_TRY(const os::Log::Topic topic, topic_named(name));
        topics.emplace_back(topic, true);
    }
    for (const std::string& name : asked.topics_off()) {
        SY_TRY(const os::Log::Topic topic, topic_named(name));
        topics.emplace_back(topic, false);
    }
    os::Log& log = context.log;
    for (const auto& [topic, on] : topics) log.set_topic(topic, on);
    if (asked.has_level()) {
        log.info("Set debug level to '{}'", log_level_name(asked.level()));
        log.set_level(asked.level());
    }
    if (!topics.empty())
        log.info("Set DebugFlags to {}", log.topics().empty() ? "none" : log.topics());
    return {};
}

}  // namespace

void handle_log(AdminContext& context, Session& session, const wire::Request& request) {
    if (!allowed(context, session, request)) return;
    if (request.log().level() > kLogLast) {
        return context.calls.refuse(session, request.id(), fail(Errc::InvalidArgument).error);
    }
    const Status done = change(context, request.log());
    context.calls.finish(
        session, done ? done_frame(request.id()) : failure_frame(request.id(), done.error()));
}

}  // namespace switchyard::controller
