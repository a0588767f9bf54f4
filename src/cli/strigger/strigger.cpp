// strigger.cpp: sets, shows and removes triggers.
#include <fmt/format.h>

#include <algorithm>

#include "base/visible.hpp"
#include "cli/commands.hpp"
#include "cli/job_ids.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/strigger/strigger_options.hpp"
#include "wire/codec.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "strigger";

// A failure is told as Slurm's: "slurm_set_trigger: Duplicate event trigger".
int failed(const TriggerOptions& options, std::string_view call, const Error& error) {
    if (options.quiet) return 0;
    say_call_failed(kProgram, call, error);
    return 1;
}

int set_triggers(Session& session, const TriggerOptions& options) {
    wire::Request request;
    for (const model::TriggerType type : options.types) {
        model::Trigger trigger;
        trigger.type = type;
        trigger.resource = type == model::TriggerType::ControllerResumed
                               ? model::TriggerResource::Controller
                           : options.job ? model::TriggerResource::Job
                                         : model::TriggerResource::Node;
        if (options.job && !options.controller) trigger.job = *options.job;
        trigger.nodes = options.nodes;
        trigger.offset = options.offset;
        trigger.program = options.program;
        trigger.permanent = options.permanent;
        wire::encode(trigger, request.mutable_set_triggers()->add_triggers());
    }
    const auto reply = session.connection.call(request);
    if (!reply) return failed(options, "slurm_set_trigger", reply.error());
    if (options.verbose > 0) say(kProgram, "trigger set");
    return 0;
}

int clear_triggers(Session& session, const TriggerOptions& options) {
    wire::Request request;
    wire::ClearTriggersRequest* clear = request.mutable_clear_triggers();
    if (options.id) clear->set_id(*options.id);
    if (options.job) clear->set_job(options.job->value);
    if (options.uid) clear->set_uid(*options.uid);
    const auto reply = session.connection.call(request);
    if (!reply) return failed(options, "slurm_clear_trigger", reply.error());
    if (options.verbose == 0) return 0;
    if (options.job) say(kProgram, fmt::format("triggers for job {} cleared", options.job->value));
    if (options.uid) say(kProgram, fmt::format("triggers for user {} cleared", *options.uid));
    if (options.id) say(kProgram, fmt::format("trigger {} cleared", *options.id));
    return 0;
}

bool is_wanted(const TriggerOptions& options, const model::Trigger& trigger) {
    const bool of_job = trigger.resource == model::TriggerResource::Job;
    if (options.id && *options.id != trigger.id) return false;
    if (options.uid && *options.uid != trigger.uid) return false;
    if (options.job && (!of_job || trigger.job != *options.job)) return false;
    if (options.node && trigger.resource != model::TriggerResource::Node) return false;
    const auto named = [&](const std::string& node) {
        return trigger.nodes.empty() ||
               std::ranges::find(trigger.nodes, node) != trigger.nodes.end();
    };
    if (!options.nodes.empty() && std::ranges::none_of(options.nodes, named)) return false;
    const auto& types = options.types;
    return types.empty() || std::ranges::find(types, trigger.type) != types.end();
}

int show_triggers(Session& session, const TriggerOptions& options) {
    const auto triggers = client::fetch_triggers(session.connection);
    if (!triggers) return failed(options, "slurm_get_triggers", triggers.error());
    if (options.verbose > 0)
        say(kProgram, fmt::format("Read {} trigger records", triggers->size()));
    bool first = options.header;
    for (const model::Trigger& trigger : *triggers) {
        if (!is_wanted(options, trigger)) continue;
        if (std::exchange(first, false)) {
            print(fmt::format("{} {:<9}{:>8} {:<35} {} {:<8} {:<5} {}\n", "TRIG_ID", "RES_TYPE",
                              "RES_ID", "TYPE", "OFFSET", "USER", "FLAGS", "PROGRAM"));
        }
        print(fmt::format("{:>7} {:<9} {:>7} {:<35} {:>6} {:<8} {:<5} {}\n", trigger.id,
                          to_string(trigger.resource), resource_id(trigger),
                          to_string(trigger.type), trigger.offset.count(), trigger.user,
                          trigger.permanent ? "PERM" : "", visible(trigger.program)));
    }
    return 0;
}

}  // namespace

int strigger_main(int argc, char** argv) {
    TriggerOptions options;
    if (const Taken code = parse_trigger_options(argc, argv, options)) return *code;
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, options.set ? "slurm_set_trigger" : "slurm_get_triggers",
                        session.error());
        return 1;
    }
    if (!is_our_cluster(kProgram, options.clusters, session->config)) return 1;
    if (options.set) return set_triggers(*session, options);
    if (options.clear) return clear_triggers(*session, options);
    return show_triggers(*session, options);
}

}  // namespace switchyard::cli
