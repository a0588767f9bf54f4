#include "cli/scontrol/config_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "config/key_names.hpp"
#include "model/hostlist.hpp"

namespace switchyard::cli {
namespace {

// What is told beside the configuration, and cannot be set.
bool is_told_only(std::string_view key) {
    constexpr std::string_view kKeys[] = {"BOOT_TIME",   "HASH_VAL",   "MULTIPLE_SLURMD",
                                          "NEXT_JOB_ID", "SLURM_CONF", "SLURM_VERSION"};
    return std::ranges::find(kKeys, key) != std::ranges::end(kKeys);
}

bool has_effect(std::string_view key) {
    static const std::vector<config::KeyName> known = config::known_keys();
    const auto found = std::ranges::find_if(
        known, [&](const config::KeyName& name) { return equals_ignoring_case(name.name, key); });
    return found != known.end() && found->used;
}

// "30 sec" is shown, and 30 is what is written; "root(0)" is root.
std::string written_value(std::string_view shown) {
    if (shown.starts_with("(null")) return {};
    const std::size_t blank = shown.find(' ');
    if (blank != std::string_view::npos && parse_uint(shown.substr(0, blank))) {
        return std::string(shown.substr(0, blank));
    }
    const std::size_t bracket = shown.find('(');
    const bool has_number = bracket != std::string_view::npos && shown.ends_with(')') &&
                            parse_uint(shown.substr(bracket + 1, shown.size() - bracket - 2));
    return std::string(has_number ? shown.substr(0, bracket) : shown);
}

std::string key_line(std::string_view key, std::string_view shown) {
    key = key.substr(0, key.find('['));  // "SlurmctldHost[0]"
    const std::string value = written_value(shown);
    if (value.empty() || !has_effect(key)) return fmt::format("#{}=\n", key);
    return fmt::format("{}={}\n", key, value);
}

// The words of one line, those that say something.
class Line {
  public:
    void add(std::string_view key, std::string_view value) {
        if (value.empty()) return;
        if (!text_.empty()) text_ += ' ';
        const bool quotes = value.find(' ') != std::string_view::npos;
        text_ += fmt::format("{0}={1}{2}{1}", key, quotes ? "\"" : "", value);
    }
    void add(std::string_view key, std::uint64_t value, std::uint64_t unless) {
        if (value != unless) add(key, std::to_string(value));
    }
    void add_flag(std::string_view key, bool value) {
        if (value) add(key, "YES");
    }
    template <class Number>
    void add_given(std::string_view key, const std::optional<Number>& value) {
        if (!value) return;
        if constexpr (requires { value->value; }) {
            add(key, std::to_string(value->value));
        } else {
            add(key, std::to_string(*value));
        }
    }
    void add_list(std::string_view key, const std::vector<std::string>& values) {
        add(key, join(values, ","));
    }
    std::string take() && { return std::move(text_) + "\n"; }

  private:
    std::string text_;
};

std::string_view start_word(model::NodeConfig::Start start) {
    using Start = model::NodeConfig::Start;
    switch (start) {
        case Start::Unknown:
            break;
        case Start::Down:
            return "DOWN";
        case Start::Drain:
            return "DRAIN";
        case Start::Future:
            return "FUTURE";
    }
    return "";
}

std::string node_line(const model::NodeConfig& node) {
    Line line;
    line.add("NodeName", node.name);
    line.add("NodeHostname", node.host_name);
    line.add("NodeAddr", node.address);
    line.add("Port", node.port, 0);
    line.add("CPUs", node.cpus, 0);
    line.add("Boards", node.boards, 1);
    line.add("Sockets", node.sockets, 0);
    line.add("CoresPerSocket", node.cores_per_socket, 0);
    line.add("ThreadsPerCore", node.threads_per_core, 0);
    line.add("RealMemory", node.memory.value, 0);
    line.add("TmpDisk", node.tmp_disk.value, 0);
    line.add("Weight", node.weight, 1);
    line.add("CoreSpecCount", node.core_spec_count, 0);
    line.add("MemSpecLimit", node.mem_spec_limit.value, 0);
    line.add_list("Features", node.features);
    line.add("Gres", model::to_string(node.gres));
    line.add("State", start_word(node.start));
    line.add("Reason", node.reason);
    return std::move(line).take();
}

std::string over_subscribe(const model::Partition& partition) {
    using Over = model::Partition::OverSubscribe;
    switch (partition.over_subscribe) {
        case Over::No:
            break;
        case Over::Yes:
            return fmt::format("YES:{}", partition.over_subscribe_count);
        case Over::Force:
            return fmt::format("FORCE:{}", partition.over_subscribe_count);
        case Over::Exclusive:
            return "EXCLUSIVE";
    }
    return {};
}

std::string partition_line(const model::Partition& p) {
    Line line;
    line.add("PartitionName", p.name);
    line.add("Nodes", model::compress_hostlist(p.nodes));
    line.add_flag("Default", p.is_default);
    line.add_flag("Hidden", p.hidden);
    line.add_flag("RootOnly", p.root_only);
    line.add_flag("DisableRootJobs", p.disable_root_jobs);
    line.add_flag("LLN", p.lln);
    line.add_flag("ReqResv", p.require_reservation);
    line.add_flag("ExclusiveUser", p.exclusive_user);
    line.add("MaxTime", model::format_limit(p.max_time));
    if (p.default_time) line.add("DefaultTime", model::format_limit(*p.default_time));
    line.add("MinNodes", p.min_nodes, 1);
    line.add_given("MaxNodes", p.max_nodes);
    line.add_given("MaxCPUsPerNode", p.max_cpus_per_node);
    line.add_given("DefMemPerCPU", p.def_mem_per_cpu);
    line.add_given("DefMemPerNode", p.def_mem_per_node);
    line.add_given("MaxMemPerCPU", p.max_mem_per_cpu);
    line.add_given("MaxMemPerNode", p.max_mem_per_node);
    line.add("PriorityTier", p.priority_tier, 1);
    line.add("PriorityJobFactor", p.priority_job_factor, 1);
    line.add("OverSubscribe", over_subscribe(p));
    line.add_list("AllowGroups", p.allow_groups);
    line.add_list("AllowAccounts", p.allow_accounts);
    line.add_list("DenyAccounts", p.deny_accounts);
    line.add_list("AllowQos", p.allow_qos);
    line.add_list("DenyQos", p.deny_qos);
    line.add_list("AllocNodes", p.alloc_nodes);
    line.add("QOS", p.qos);
    line.add("Alternate", p.alternate);
    line.add("GraceTime", p.grace_time, 0);
    line.add_given("OverTimeLimit", p.over_time_limit);
    if (p.preempt_mode) line.add("PreemptMode", model::to_string(*p.preempt_mode));
    line.add("State", model::to_string(p.state));
    return std::move(line).take();
}

}  // namespace

std::string config_file(const ConfigValues& values, const std::vector<model::Node>& nodes,
                        const std::vector<model::Partition>& partitions, const std::string& when) {
    std::string text = fmt::format("# Configuration file for Slurm - {}\n#\n", when);
    for (const auto& [key, value] : values) {
        if (!is_told_only(key)) text += key_line(key, value);
    }
    text += "#\n# NODES\n#\n";
    for (const model::Node& node : nodes) text += node_line(node.config);
    text += "#\n# PARTITIONS\n#\n";
    for (const model::Partition& partition : partitions) text += partition_line(partition);
    return text;
}

}  // namespace switchyard::cli
