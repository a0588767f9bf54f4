// status.cpp: one page about a cluster: what runs, what its nodes and jobs do, where its
// files are.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/text.hpp"
#include "cli/switchyard/daemons.hpp"
#include "cli/switchyard/verbs.hpp"
#include "client/client.hpp"
#include "model/hostlist.hpp"
#include "model/job.hpp"

namespace switchyard::cli {
namespace {

void row(std::string_view title, const std::string& text) {
    std::fputs(fmt::format("{:<15}{}\n", title, text).c_str(), stdout);
}

// True if all of them run.
bool show_daemons(const config::Config& config) {
    bool all_run = true;
    std::vector<std::string> agents, dead_agents;
    for (const Daemon& daemon : daemons_here(config)) {
        const auto pid = find_daemon(daemon);
        all_run = all_run && pid.has_value();
        if (daemon.node.empty()) {
            row("controller", pid ? fmt::format("process {}", *pid) : std::string("not running"));
        } else {
            (pid ? agents : dead_agents).push_back(daemon.node);
        }
    }
    std::string text =
        agents.empty() ? "none running" : model::compress_hostlist(agents) + " running";
    if (!dead_agents.empty()) text += "; not running: " + model::compress_hostlist(dead_agents);
    row("agents", text);
    return all_run;
}

void show_nodes(const std::vector<model::Node>& nodes) {
    std::map<std::string, std::vector<std::string>> by_state, by_containment;
    for (const model::Node& node : nodes) {
        std::string state = model::long_name(node);
        if (node.mark && !node.mark->reason.empty() && (node.drain || node.down)) {
            state += " (" + node.mark->reason + ")";
        }
        by_state[state].push_back(node.config.name);
        by_containment[node.facts ? node.facts->containment : "not known"].push_back(
            node.config.name);
    }
    const char* title = "nodes";
    for (const auto& [state, names] : by_state) {
        row(title, fmt::format("{} {}", model::compress_hostlist(names), state));
        title = "";
    }
    title = "containment";
    for (const auto& [how, names] : by_containment) {
        row(title, by_containment.size() == 1
                       ? how
                       : fmt::format("{} on {}", how, model::compress_hostlist(names)));
        title = "";
    }
}

void show_jobs(const std::vector<model::Job>& jobs) {
    std::map<std::string, std::size_t> counts;
    for (const model::Job& job : jobs) ++counts[to_lower(model::long_name(model::state_of(job)))];
    std::string text;
    for (const auto& [state, count] : counts) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
    }
    row("jobs", text.empty() ? "none" : text);
}

// True if the controller answered.
bool show_answers(const config::Config& config) {
    auto connection = client::Connection::open(config, "switchyard");
    if (!connection) {
        row("nodes", "not known: the controller does not answer");
        return false;
    }
    const auto nodes = client::fetch_nodes(*connection);
    if (nodes) show_nodes(nodes->nodes);
    const auto jobs = client::fetch_jobs(*connection, {});
    if (jobs) show_jobs(jobs->jobs);
    return nodes && jobs;
}

}  // namespace

int switchyard_status(const Arguments& arguments) {
    const auto wishes = parse_wishes("status", arguments);
    if (!wishes) return complain(wishes.error().message);
    if (wishes->help) {
        std::fputs(usage("status").c_str(), stdout);
        return 0;
    }
    const auto place = existing_place(*wishes);
    if (!place) return complain(place.error().message);
    const auto config = config::load_config(place->config);
    if (!config) return complain(config.error().message);

    row("cluster", config->cluster_name);
    const bool all_run = show_daemons(*config);
    const bool answers = show_answers(*config);
    row("configuration", config->path);
    row("state", config->state_dir);
    row("sockets", config->run_dir);
    row("logs",
        config->controller_log.empty() ? std::string("standard error") : config->controller_log);
    return all_run && answers ? 0 : 1;
}

}  // namespace switchyard::cli
