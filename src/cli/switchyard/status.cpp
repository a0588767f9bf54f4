// status.cpp: one page about a cluster and what is wrong with it: daemons, store, nodes, queue,
// disks, logs. The exit code is for monitors.
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "base/visible.hpp"
#include "cli/output.hpp"
#include "cli/switchyard/daemons.hpp"
#include "cli/switchyard/log_errors.hpp"
#include "cli/switchyard/verbs.hpp"
#include "client/client.hpp"
#include "model/hostlist.hpp"
#include "model/job.hpp"
#include "model/time_format.hpp"
#include "os/files.hpp"

namespace switchyard::cli {
namespace {

constexpr std::size_t kLogErrorsShown = 3;
constexpr double kDiskWarning = 0.05, kDiskCritical = 0.01;  // Of the disk that are free.

enum Health { kGood = 0, kWarning = 1, kCritical = 2 };

class Report {
  public:
    void row(std::string_view title, std::string_view text) {
        print(fmt::format("{:<15}{}\n", title, visible(text)));
    }
    // As above, and something is wrong.
    void bad(Health health, std::string_view title, std::string_view text) {
        row(title, text);
        worst_ = std::max(worst_, health);
        ++problems_;
    }
    int finish() {
        constexpr std::string_view kWords[] = {"good", "warning", "critical"};
        row("health", problems_ == 0 ? std::string(kWords[kGood])
                                     : fmt::format("{}: {} {}", kWords[worst_], problems_,
                                                   problems_ == 1 ? "problem" : "problems"));
        std::fflush(stdout);
        return worst_;
    }

  private:
    Health worst_ = kGood;
    std::size_t problems_ = 0;
};

void show_daemons(Report& report, const std::vector<Daemon>& daemons) {
    std::vector<std::string> agents, dead_agents;
    for (const Daemon& daemon : daemons) {
        const auto pid = find_daemon(daemon);
        if (!daemon.node.empty()) {
            (pid ? agents : dead_agents).push_back(daemon.node);
        } else if (pid) {
            report.row("controller", fmt::format("process {}", *pid));
        } else {
            report.bad(kCritical, "controller", "not running");
        }
    }
    if (!agents.empty()) report.row("agents", model::compress_hostlist(agents) + " running");
    if (!dead_agents.empty())
        report.bad(kWarning, agents.empty() ? "agents" : "",
                   model::compress_hostlist(dead_agents) + " not running");
}

bool is_out(const model::Node& node) { return node.drain || node.down || !node.responding; }

// "n1 drained (disk broken)"
void show_nodes(Report& report, const std::vector<model::Node>& nodes) {
    std::map<std::pair<bool, std::string>, std::vector<std::string>> by_state;
    std::map<std::string, std::vector<std::string>> by_containment;
    for (const model::Node& node : nodes) {
        std::string state = model::long_name(node);
        const bool told = node.mark && !node.mark->reason.empty() && (node.drain || node.down);
        if (told) state += " (" + node.mark->reason + ")";
        by_state[{is_out(node), state}].push_back(node.config.name);
        by_containment[node.facts ? node.facts->containment : "not known"].push_back(
            node.config.name);
    }
    std::string_view title = "nodes";
    for (const auto& [key, names] : by_state) {
        const std::string text = fmt::format("{} {}", model::compress_hostlist(names), key.second);
        if (key.first) report.bad(kWarning, title, text);
        if (!key.first) report.row(title, text);
        title = "";
    }
    title = "containment";
    for (const auto& [how, names] : by_containment) {
        report.row(title, by_containment.size() == 1
                              ? how
                              : fmt::format("{} on {}", how, model::compress_hostlist(names)));
        title = "";
    }
}

// Agents of another release than the controller's.
void show_versions(Report& report, const std::vector<model::Node>& nodes,
                   const std::string& of_controller) {
    std::map<std::string, std::vector<std::string>> others;
    for (const model::Node& node : nodes) {
        if (node.facts && node.facts->version != of_controller)
            others[node.facts->version].push_back(node.config.name);
    }
    report.row("version", of_controller);
    for (const auto& [version, names] : others)
        report.bad(kWarning, "", fmt::format("{} on {}", version, model::compress_hostlist(names)));
}

void show_jobs(Report& report, const model::Statistics& statistics,
               const std::vector<model::Job>& jobs) {
    std::map<std::string, std::size_t> counts;
    for (const model::Job& job : jobs) ++counts[to_lower(model::long_name(model::state_of(job)))];
    std::string text;
    for (const auto& [state, count] : counts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, state);
    report.row("jobs", text.empty() ? "none" : text);
    report.row(
        "", fmt::format("{} submitted, {} started, {} failed since {}", statistics.jobs_submitted,
                        statistics.jobs_started, statistics.jobs_failed,
                        model::format_instant(statistics.since, "", statistics.now)));
}

// What only the controller knows.
Status show_answers(Report& report, const config::Config& config) {
    SY_TRY(client::Connection connection, client::Connection::open(config, "switchyard"));
    SY_TRY(const std::string version, client::fetch_version(connection));
    SY_TRY(const client::NodesAnswer nodes, client::fetch_nodes(connection));
    client::JobsQuery all;
    all.hidden_partitions = all.states_only = true;
    SY_TRY(const client::JobsChunk jobs, client::fetch_jobs(connection, all));
    SY_TRY(const model::Statistics statistics, client::fetch_statistics(connection));
    show_versions(report, nodes.nodes, version);
    show_nodes(report, nodes.nodes);
    show_jobs(report, statistics, jobs.jobs);
    return {};
}

std::string size_text(double bytes) {
    constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
    return fmt::format("{:.{}f} {}", bytes, unit == 0 || bytes >= 10 ? 0 : 1, kUnits[unit]);
}

// A folder, and how much of its disk is free.
void show_folder(Report& report, std::string_view title, const std::string& folder) {
    struct statvfs disk{};
    if (!os::exists(folder)) return;
    if (::statvfs(folder.c_str(), &disk) != 0 || disk.f_blocks == 0)
        return report.row(title, folder);
    const auto free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
    const double part = static_cast<double>(disk.f_bavail) / static_cast<double>(disk.f_blocks);
    const std::string text = fmt::format("{} ({} free)", folder, size_text(free));
    if (part >= kDiskWarning) return report.row(title, text);
    report.bad(part < kDiskCritical ? kCritical : kWarning, title, text + ": too little");
}

void show_folders(Report& report, const config::Config& config,
                  const std::vector<Daemon>& daemons) {
    show_folder(report, "state", config.state_dir);
    for (const Daemon& daemon : daemons) {
        if (daemon.node.empty()) continue;
        show_folder(report, "spool", config.spool_for(daemon.node));
        break;  // Those of one host are on one disk.
    }
    report.row("sockets", config.run_dir);
}

// The last complaints are shown; they are no judgement, since they may be of long ago.
void show_logs(Report& report, const std::vector<Daemon>& daemons) {
    std::string_view title = "logs";
    for (const Daemon& daemon : daemons) {
        if (daemon.log.empty() || !os::exists(daemon.log)) continue;
        const std::vector<std::string> errors = last_errors(daemon.log, kLogErrorsShown);
        if (!daemon.node.empty() && errors.empty()) continue;
        report.row(title, daemon.log);
        for (const std::string& error : errors) report.row("", "  " + error);
        title = "";
    }
    if (title == "logs") report.row(title, "standard error");
}

// Without a word about which: the cluster that all commands find.
Result<std::string> config_path(const Wishes& wishes) {
    if (!wishes.name && !wishes.dir) return config::find_config_file();
    SY_TRY(const Place place, existing_place(wishes));
    return place.config;
}

}  // namespace

int switchyard_status(const Arguments& arguments) {
    const WishesParsed parsed = parse_wishes("status", arguments);
    if (parsed.exit_code) return *parsed.exit_code;
    const auto path = config_path(parsed.wishes);
    if (!path) return complain(path.error().message);
    const auto config = config::load_config(*path);
    if (!config) return complain(config.error().message);

    Report report;
    const std::vector<Daemon> daemons = daemons_here(*config);
    report.row("cluster", config->cluster_name);
    report.row("configuration", config->path);
    show_daemons(report, daemons);
    if (const Status told = show_answers(report, *config); !told)
        report.bad(kCritical, "answers", "none: " + told.error().message);
    show_folders(report, *config, daemons);
    show_logs(report, daemons);
    return report.finish();
}

}  // namespace switchyard::cli
