// nodes.cpp: reboot, cancel_reboot.
#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/job_ids.hpp"
#include "cli/scontrol/scontrol.hpp"
#include "model/node.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::cli {
namespace {

constexpr std::string_view kCall = "scontrol_reboot_nodes error";

// A word before the nodes. False: it is none of them, which was said.
bool take_option(Scontrol& control, const std::string& word, wire::RebootRequest& ask) {
    using After = model::NodeReboot::After;
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (equals_ignoring_case(word, "asap")) {
        ask.set_asap(true);
    } else if (equals_ignoring_case(key, "nextstate")) {
        const bool down = equals_ignoring_case(value, "DOWN");
        if (!down && !equals_ignoring_case(value, "RESUME")) {
            control.complain(fmt::format("Invalid state: {}\nnextstate is RESUME or DOWN", value));
            return false;
        }
        ask.set_after(static_cast<std::uint32_t>(down ? After::Down : After::Resume));
    } else if (equals_ignoring_case(key, "reason") && !value.empty()) {
        ask.set_reason(value);
    } else {
        control.complain(fmt::format("Invalid reboot value: {}", word));
        return false;
    }
    return true;
}

}  // namespace

void reboot(Scontrol& control, const Words& words) {
    if (words.empty()) return control.complain("too few arguments for keyword:reboot");
    wire::Request request;
    wire::RebootRequest& ask = *request.mutable_reboot();
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (!take_option(control, words[i], ask)) return;
    }
    const std::string& last = words.back();
    if (!equals_ignoring_case(last, "ALL")) {
        const auto names = parse_node_list(last);
        if (!names || names->empty())
            return control.complain(fmt::format("Invalid node name specified: {}", last));
        for (const std::string& name : *names) ask.add_nodes(name);
    }
    (void)call_controller(control, kCall, request);  // A failure is told there.
}

void cancel_reboot(Scontrol& control, const Words& words) {
    if (words.size() != 1) {
        return control.complain(fmt::format("too {} arguments for keyword:cancel_reboot",
                                            words.empty() ? "few" : "many"));
    }
    const auto names = parse_node_list(words[0]);
    if (!names || names->empty())
        return control.complain(fmt::format("Invalid node name specified: {}", words[0]));
    Session* session = control.session("slurm_update error");
    if (session == nullptr) return;
    model::NodeUpdate update;
    update.nodes = *names;
    update.verb = model::NodeVerb::CancelReboot;
    const Status done = client::update_nodes(session->connection, update);
    if (!done) control.say_failed("slurm_update error", done.error());
}

}  // namespace switchyard::cli
