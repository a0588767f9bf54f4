// operator_events.hpp: the verbs of scenarios for reboots, triggers and those who look on.
//
//   reboot NODES|ALL [asap] [next=resume|down] [reason=TEXT] | cancelreboot NODES
//   fail NODES [reason=TEXT]
//   trigger TYPE [job=ID] [nodes=NAMES] [offset=SECONDS] [program=PATH] [perm] [user=UID]
//   cleartriggers [id=N] [job=ID] [of=UID] [user=UID]
//   notify JOB TEXT [user=UID] | swait JOB [step=N] [user=UID]
#pragma once

#include <set>
#include <string>

#include "core/cluster/event.hpp"
#include "core/testing/transcript_words.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core::testing {

inline bool is_operator_verb(const std::string& verb) {
    static const std::set<std::string> kVerbs = {
        "reboot", "cancelreboot", "fail", "trigger", "notify", "swait", "cleartriggers"};
    return kVerbs.contains(verb);
}

inline model::Trigger trigger_of(const Words& words) {
    model::Trigger trigger;
    for (int i = 0; i <= static_cast<int>(model::kTriggerTypeLast); ++i) {
        const auto type = static_cast<model::TriggerType>(i);
        if (to_string(type) == words.plain.at(1)) trigger.type = type;
    }
    if (trigger.type == model::TriggerType::ControllerResumed)
        trigger.resource = model::TriggerResource::Controller;
    if (words.values.contains("job")) {
        trigger.resource = model::TriggerResource::Job;
        trigger.job = JobId{words.number("job")};
    }
    if (words.values.contains("nodes")) trigger.nodes = *model::expand_hostlist(words.get("nodes"));
    trigger.offset = Seconds{std::stoll(words.get("offset", "0"))};
    trigger.program = words.get("program", "/bin/tell");
    trigger.permanent = words.has("perm");
    return trigger;
}

inline Event operator_event(const std::string& verb, const Words& words, Token token,
                            const Caller& caller) {
    if (verb == "trigger") return event::SetTriggers{token, caller, "someone", {trigger_of(words)}};
    if (verb == "cleartriggers") {
        event::ClearTriggers clear{token, caller, {}, {}, {}};
        if (words.values.contains("id")) clear.id = words.number("id");
        if (words.values.contains("job")) clear.job = JobId{words.number("job")};
        if (words.values.contains("of")) clear.uid = words.number("of");
        return clear;
    }
    const std::string& what = words.plain.at(1);
    if (verb == "notify")
        return event::Notify{token, caller, JobId{static_cast<std::uint32_t>(std::stoul(what))},
                             words.plain.at(2)};
    if (verb == "swait") {
        event::WaitForSteps wait{
            token, caller, JobId{static_cast<std::uint32_t>(std::stoul(what))}, {}};
        if (words.values.contains("step")) wait.step = StepId{words.number("step")};
        return wait;
    }
    const auto nodes = what == "ALL" ? std::vector<std::string>{} : *model::expand_hostlist(what);
    const auto reason =
        words.values.contains("reason") ? std::optional(words.get("reason")) : std::nullopt;
    if (verb == "reboot") {
        using After = model::NodeReboot::After;
        const std::string next = words.get("next");
        return event::Reboot{token,
                             caller,
                             "root",
                             nodes,
                             words.has("asap"),
                             next == "resume" ? After::Resume
                             : next == "down" ? After::Down
                                              : After::Keep,
                             reason};
    }
    event::UpdateNode update{token, caller, "root", {}};
    update.update.nodes = nodes;
    update.update.verb = verb == "fail" ? model::NodeVerb::Fail : model::NodeVerb::CancelReboot;
    update.update.reason = reason;
    return update;
}

}  // namespace switchyard::core::testing
