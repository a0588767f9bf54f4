// log.cpp: setdebug, setdebugflags, schedloglevel: what the daemons log.
#include <fmt/format.h>

#include "base/log_level.hpp"
#include "base/text.hpp"
#include "cli/job_ids.hpp"
#include "cli/scontrol/scontrol.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::cli {
namespace {

// "nodes=n[1-3]" at the end: the agents of these nodes are meant. False: something is wrong, which
// was said.
bool take_nodes(Scontrol& control, Words& words, wire::LogRequest& ask) {
    if (words.empty() || !starts_with_ignoring_case(words.back(), "nodes=")) return true;
    const std::string list = words.back().substr(std::string_view("nodes=").size());
    const auto names = parse_node_list(list);
    if (!names || names->empty()) {
        control.complain(fmt::format("Invalid node name specified: {}", list));
        return false;
    }
    for (const std::string& name : *names) ask.add_nodes(name);
    words.pop_back();
    return true;
}

}  // namespace

void set_debug(Scontrol& control, const Words& words) {
    Words rest = words;
    wire::Request request;
    wire::LogRequest& ask = *request.mutable_log();
    if (!take_nodes(control, rest, ask)) return;
    if (rest.size() != 1) {
        return control.complain(
            fmt::format("too {} arguments for keyword:setdebug", rest.empty() ? "few" : "many"));
    }
    const auto level = parse_log_level(rest[0]);
    if (!level) return control.complain(fmt::format("invalid debug level: {}", rest[0]));
    ask.set_level(*level);
    (void)call_controller(control, "slurm_set_debug_level error", request);  // Told there.
}

void set_debug_flags(Scontrol& control, const Words& words) {
    Words rest = words;
    wire::Request request;
    wire::LogRequest& ask = *request.mutable_log();
    if (!take_nodes(control, rest, ask)) return;
    if (rest.empty()) return control.complain("too few arguments for keyword:setdebugflags");
    for (const std::string& word : rest) {
        const bool on = word.starts_with('+');
        if (word.size() < 2 || (!on && !word.starts_with('-'))) {
            return control.complain(fmt::format(
                "invalid debug flag: {}\nUsage: setdebugflags [+|-]NAME [nodes=NODES]", word));
        }
        *(on ? ask.add_topics_on() : ask.add_topics_off()) = word.substr(1);
    }
    (void)call_controller(control, "slurm_set_debug_flags error", request);  // Told there.
}

void sched_log_level(Scontrol& control, const Words& words) {
    if (words.size() != 1) {
        return control.complain(fmt::format("too {} arguments for keyword:schedloglevel",
                                            words.empty() ? "few" : "many"));
    }
    const bool on = words[0] == "1" || equals_ignoring_case(words[0], "enable");
    const bool off = words[0] == "0" || equals_ignoring_case(words[0], "disable");
    if (!on && !off) return control.complain(fmt::format("invalid schedlog level: {}", words[0]));
    wire::Request request;
    *(on ? request.mutable_log()->add_topics_on() : request.mutable_log()->add_topics_off()) =
        "sched";
    (void)call_controller(control, "slurm_set_schedlog_level error", request);  // Told there.
}

}  // namespace switchyard::cli
