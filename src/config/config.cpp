#include "config/config.hpp"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.hpp"
#include "config/apply.hpp"
#include "config/findings.hpp"
#include "config/gres.hpp"
#include "config/keys.hpp"
#include "config/lines.hpp"
#include "config/nodes.hpp"
#include "config/partitions.hpp"
#include "config/preempt_keys.hpp"
#include "os/users.hpp"

namespace switchyard::config {
namespace {

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool belongs_to_root(const std::string& path) {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 && info.st_uid == 0;
}

std::string home_folder() {
    if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
    const auto user = os::find_user(::getuid());
    return user ? user->home : "/";
}

std::string own_host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
    const std::string full = name.data();
    return full.substr(0, full.find('.'));
}

void replace_all(std::string& text, std::string_view what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

// Folders and files that were not given. A cluster that belongs to root serves all users, so its
// sockets stand where all can reach them; one that a user made for themselves stays in that user's
// folder.
void fill_places(Config& config) {
    if (config.state_dir.empty()) {
        config.state_dir = belongs_to_root(config.path)
                               ? "/var/lib/switchyard/" + config.cluster_name
                               : folder_of(config.path) + "/state";
    }
    if (config.run_dir.empty()) {
        config.run_dir = belongs_to_root(config.path) ? "/run/switchyard/" + config.cluster_name
                                                      : config.state_dir + "/run";
    }
    if (config.spool_dir.empty()) config.spool_dir = config.state_dir + "/spool/%n";
    if (config.key_file.empty()) config.key_file = config.state_dir + "/cluster.key";
    if (config.controller_pid_file.empty())
        config.controller_pid_file = config.run_dir + "/slurmctld.pid";
    if (config.agent_pid_file.empty()) config.agent_pid_file = config.run_dir + "/slurmd-%n.pid";
}

void remember(Config& config, std::string_view key, const std::string& value) {
    for (auto& [known, text] : config.raw) {
        if (known == key && key != "SlurmctldHost") {
            text = value;
            return;
        }
    }
    config.raw.emplace_back(key, value);
}

void apply(Config& config, const Pair& pair, const std::string& where, Findings& findings) {
    const KeyRule<Config>* rule = find_key(pair.key);
    if (rule != nullptr) remember(config, rule->name, pair.value);
    apply_pair(rule, config, pair, where, "slurm.conf", "slurm.conf", findings);
}

struct Tables {
    NodeTable nodes;
    PartitionTable partitions;
};

void read_line(Config& config, Tables& tables, const Line& line, const std::string& where,
               Findings& findings) {
    const std::string& first = line.pairs.front().key;
    if (equals_ignoring_case(first, "NodeName")) {
        tables.nodes.add_nodes(line, where, findings);
    } else if (equals_ignoring_case(first, "PartitionName")) {
        tables.partitions.add(line, where, findings);
    } else if (equals_ignoring_case(first, "NodeSet")) {
        tables.nodes.add_node_set(line, where, findings);
    } else if (equals_ignoring_case(first, "DownNodes")) {
        tables.nodes.add_down_nodes(line, where, findings);
    } else if (equals_ignoring_case(first, "FrontendName")) {
        findings.notice_once("frontendname", where, unused_key_text("FrontendName", {}));
    } else {
        for (const Pair& pair : line.pairs) apply(config, pair, where, findings);
    }
}

void read_cgroup_conf(Config& config, const Lines& lines, Findings& findings) {
    constexpr auto kKeys = std::to_array<KeyRule<Config>>({
        {"ConstrainCores", set_flag<Config, &Config::constrain_cores>},
        {"ConstrainRAMSpace", set_flag<Config, &Config::constrain_memory>},
        {"ConstrainDevices", set_flag<Config, &Config::constrain_devices>},
        {"CgroupPlugin", set_text<Config, &Config::cgroup_plugin>},
        {"AllowedKmemSpace"},
        {"AllowedRAMSpace"},
        {"AllowedSwapSpace"},
        {"CgroupAutomount"},
        {"CgroupMountpoint"},
        {"CgroupReleaseAgentDir"},
        {"CgroupSlice"},
        {"ConstrainKmemSpace"},
        {"ConstrainSwapSpace"},
        {"EnableControllers"},
        {"EnableExtraControllers"},
        {"IgnoreSystemd"},
        {"IgnoreSystemdOnFailure"},
        {"MaxKmemPercent"},
        {"MaxRAMPercent"},
        {"MaxSwapPercent"},
        {"MemorySwappiness"},
        {"MinKmemSpace"},
        {"MinRAMSpace"},
        {"SignalChildrenProcesses"},
        {"SystemdTimeout"},
        {"TaskAffinity"},
    });
    for (const Line& line : lines.lines) {
        for (const Pair& pair : line.pairs) {
            apply_pair(find_rule<Config>(kKeys, pair.key), config, pair, lines.where(line),
                       "cgroup.conf", "cgroup.conf", findings);
        }
    }
}

// gres.conf or cgroup.conf beside the main file; empty where there is none.
Result<Lines> read_beside(Config& config, const char* name, Findings& findings) {
    const std::string path = folder_of(config.path) + "/" + name;
    if (!exists(path)) {
        config.files.push_back(path);
        return Lines{};
    }
    SY_TRY(Lines lines, read_lines(path));
    findings.errors.insert(findings.errors.end(), lines.errors.begin(), lines.errors.end());
    config.files.insert(config.files.end(), lines.files.begin(), lines.files.end());
    return lines;
}

// Slurm wants every type declared; a type that a node line names anyway is meant.
void complete_gres_types(Config& config, const std::vector<NodeEntry>& nodes, Findings& findings) {
    for (const NodeEntry& node : nodes) {
        for (const auto& gres : node.config.gres) {
            if (std::ranges::find(config.gres_types, gres.name) != config.gres_types.end())
                continue;
            findings.notice(node.where,
                            fmt::format("GresTypes does not name {}; it is added", gres.name));
            config.gres_types.push_back(gres.name);
        }
    }
    // Nodes that look for themselves may have what no line names.
    const bool finds =
        std::ranges::any_of(config.auto_detect, [](const auto& e) { return e.second == "nvml"; });
    if (finds && std::ranges::find(config.gres_types, "gpu") == config.gres_types.end())
        config.gres_types.emplace_back("gpu");
}

// Flags that are read for what they imply and have no effect of their own.
void name_unused_prolog_flags(const Config& config, Findings& findings) {
    for (const std::string& flag : parse_list(config.prolog_flags)) {
        for (const std::string_view unused :
             {"DeferBatch", "ForceRequeueOnFail", "RunInJob", "X11"}) {
            if (equals_ignoring_case(flag, unused))
                findings.notice(config.path, fmt::format("PrologFlags={} has no effect", unused));
        }
    }
}

Status refuse_if_errors(const std::vector<std::string>& errors) {
    if (errors.empty()) return {};
    return fail(Errc::InvalidArgument, join(errors, "\n"));
}

constexpr std::string_view kClientKeys[] = {
    "ClusterName",
    "SlurmctldHost",
    "ControlMachine",
    "ControlAddr",
    "SlurmctldPort",
    "SlurmUser",
    "StateSaveLocation",
    "SwitchyardRunDir",
    "SwitchyardKeyFile",
    "KillWait",
    "MaxArraySize",
    "PropagateResourceLimits",
    "PropagateResourceLimitsExcept",
    "MpiDefault",
};

bool client_wants(std::string_view key) {
    // The lines there are many of, and whose first key says all.
    for (const std::string_view unwanted : {"NodeName", "PartitionName", "NodeSet", "DownNodes"}) {
        if (equals_ignoring_case(key, unwanted)) return false;
    }
    return true;
}

}  // namespace

std::string Config::expand(std::string_view pattern, const std::string& node) const {
    std::string out(pattern);
    if (out.find('%') == std::string::npos) return out;
    const auto found = std::ranges::find(nodes, node, &model::NodeConfig::name);
    const bool named = found != nodes.end() && !found->host_name.empty();
    replace_all(out, "%n", node);
    replace_all(out, "%h", named ? found->host_name : own_host_name());
    return out;
}

std::string Config::spool_for(const std::string& node) const { return expand(spool_dir, node); }

Result<std::string> find_config_file() {
    if (const char* path = std::getenv("SLURM_CONF"); path != nullptr && *path != '\0') {
        return std::string(path);
    }
    const std::string own = home_folder() + "/.switchyard/slurm.conf";
    const std::string places[] = {"/etc/switchyard/slurm.conf", "/etc/slurm/slurm.conf", own,
                                  "/var/lib/switchyard/slurm.conf"};
    for (const std::string& place : places) {
        if (exists(place)) return place;
    }
    return fail(
        Errc::NotFound,
        fmt::format(
            "no cluster is configured: SLURM_CONF is not set, and there is none of {}, {}, {}, {}. "
            "\"switchyard up\" starts a cluster on this machine",
            places[0], places[1], places[2], places[3]));
}

Result<Config> load_config(const std::string& path) {
    SY_TRY(const Lines lines, read_lines(path));
    Config config;
    config.path = path;
    config.files = lines.files;
    Findings findings;
    findings.errors = lines.errors;
    Tables tables;
    for (const Line& line : lines.lines)
        read_line(config, tables, line, lines.where(line), findings);
    fill_places(config);

    tables.nodes.finish(findings);
    SY_TRY(const Lines gres, read_beside(config, "gres.conf", findings));
    settle_gres(tables.nodes.entries(), gres, findings);
    config.auto_detect = find_auto_detect(gres);
    complete_gres_types(config, tables.nodes.entries(), findings);
    SY_TRY(const Lines cgroup, read_beside(config, "cgroup.conf", findings));
    read_cgroup_conf(config, cgroup, findings);
    config.partitions = tables.partitions.finish(tables.nodes, findings);
    for (NodeEntry& entry : tables.nodes.entries()) config.nodes.push_back(std::move(entry.config));

    name_unused_prolog_flags(config, findings);
    check_preemption(config, findings);
    SY_CHECK(refuse_if_errors(findings.errors));
    config.notices = std::move(findings.notices);
    return config;
}

std::string change_mark(const Config& config) {
    std::string mark;
    for (const std::string& path : config.files) {
        struct stat facts{};
        const bool found = ::stat(path.c_str(), &facts) == 0;
        mark += found ? fmt::format("{} {} {}.{} {}\n", facts.st_ino, facts.st_size,
                                    facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, path)
                      : fmt::format("- {}\n", path);
    }
    return mark;
}

Result<Config> load_client_config(const std::string& path) {
    SY_TRY(const Lines lines, read_lines(path, client_wants));
    Config config;
    config.path = path;
    std::vector<std::string> errors;
    for (const Line& line : lines.lines) {
        for (const Pair& pair : line.pairs) {
            const bool wanted = std::ranges::any_of(kClientKeys, [&pair](std::string_view key) {
                return equals_ignoring_case(key, pair.key);
            });
            if (!wanted) continue;
            const KeyRule<Config>* rule = find_key(pair.key);
            if (const Status status = rule->set(config, pair.value); !status) {
                errors.push_back(fmt::format("{}: {}: {}", lines.where(line), rule->name,
                                             status.error().message));
            }
        }
    }
    SY_CHECK(refuse_if_errors(errors));
    fill_places(config);
    return config;
}

}  // namespace switchyard::config
