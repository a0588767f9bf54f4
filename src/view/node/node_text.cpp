#include "view/node/node_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/hostlist.hpp"
#include "model/resources.hpp"
#include "view/amount_text.hpp"
#include "view/node/node_facts.hpp"

namespace switchyard::view {
namespace {

using model::Node;
using model::Partition;

std::string or_null(const std::string& text) { return text.empty() ? "(null)" : text; }
std::string_view yes_no(bool value) { return value ? "YES" : "NO"; }

std::string moment(const std::optional<Instant>& when, std::string_view none,
                   const RecordStyle& style) {
    if (!when || *when == Instant{}) return std::string(none);
    return model::format_instant(*when, style.time_format);
}

void add_size_and_gres(Record& record, const Node& node, const RecordStyle& style) {
    const NodeSize size = size_of(node);
    const std::string arch =
        node.facts && !node.facts->arch.empty() ? "Arch=" + node.facts->arch + " " : "";
    // The blanks at the ends of some lines are Slurm's.
    record.line(fmt::format("NodeName={} {}CoresPerSocket={} ", node.config.name, arch,
                            size.cores_per_socket));
    record.line(fmt::format(
        "CPUAlloc={} CPUEfctv={} CPUTot={} CPULoad={}", node.used_cpus,
        size.cpus - std::min(size.cpus, node.config.core_spec_count * size.threads_per_core),
        size.cpus, node.facts ? fmt::format("{:.2f}", node.facts->cpu_load) : "N/A"));
    // Slurm tells a node on which nothing is active from one that has no features.
    const std::string features = or_null(join(node.config.features, ","));
    record.line("AvailableFeatures=" + features);
    record.line("ActiveFeatures=" +
                (node.config.active_features ? join(node.config.active(), ",") : features));
    record.line("Gres=" + or_null(model::to_string(gres_of(node))));
    if (style.details) {
        record.line("GresDrain=N/A");
        record.line("GresUsed=" + or_null(model::format_gres_used(gres_of(node), node.used_gres)));
    }
}

void add_host(Record& record, const Node& node) {
    std::string host =
        fmt::format("NodeAddr={} NodeHostName={} ", address_of(node), host_name_of(node));
    if (node.config.port != 0) host += fmt::format("Port={} ", node.config.port);
    if (node.facts && !node.facts->version.empty()) host += "Version=" + node.facts->version;
    while (host.ends_with(' ')) host.pop_back();
    record.line(host);
    if (node.facts && !node.facts->os.empty()) record.line("OS=" + node.facts->os + " ");
}

void add_state(Record& record, const Node& node, const RecordStyle& style) {
    const NodeSize size = size_of(node);
    record.line(fmt::format("RealMemory={} AllocMem={} FreeMem={} Sockets={} Boards={}",
                            size.memory.value, node.used_memory.value,
                            node.facts ? std::to_string(node.facts->free_memory.value) : "N/A",
                            size.sockets, std::max(1U, node.config.boards)));
    if (node.config.core_spec_count > 0 || node.config.mem_spec_limit.value > 0) {
        record.line(fmt::format("CoreSpecCount={} MemSpecLimit={}", node.config.core_spec_count,
                                node.config.mem_spec_limit.value));
    }
    record.line(fmt::format(
        "State={} ThreadsPerCore={} TmpDisk={} Weight={} Owner=N/A MCS_label=N/A",
        model::full_state(node), size.threads_per_core, size.tmp_disk.value, node.config.weight));
    if (!node.partitions.empty()) record.line("Partitions=" + join(node.partitions, ",") + " ");
    const std::optional<Instant> never;
    record.line(fmt::format("BootTime={} SlurmdStartTime={}",
                            moment(node.facts ? node.facts->booted : never, "None", style),
                            moment(node.facts ? node.facts->agent_started : never, "None", style)));
    const bool busy = node.running_jobs > 0 || node.completing_jobs > 0;
    const std::optional<Instant> in_use = busy ? style.now : last_busy(node);
    record.line(fmt::format("LastBusyTime={} ResumeAfterTime={} SuspendTime=INFINITE",
                            moment(in_use, "Unknown", style),
                            moment(node.resume_at, "None", style)));
}

// What its cards did when its agent last looked: "0:93%,4096M,280W;1:0%,3M,60W".
std::string card_use_of(const Node& node) {
    std::vector<std::string> cards;
    if (!node.facts) return {};
    for (const model::CardUse& use : node.facts->card_use) {
        std::vector<std::string> parts;
        if (use.percent) parts.push_back(fmt::format("{}%", *use.percent));
        if (use.memory) parts.push_back(fmt::format("{}M", use.memory->value));
        if (use.watts) parts.push_back(fmt::format("{}W", *use.watts));
        cards.push_back(fmt::format("{}:{}", use.device, join(parts, ",")));
    }
    return join(cards, ";");
}

std::string allow_line(const Partition& p) {
    const auto list = [](std::string_view allow, const std::vector<std::string>& allowed,
                         std::string_view deny, const std::vector<std::string>& denied) {
        if (allowed.empty() && !denied.empty())
            return fmt::format("{}={}", deny, join(denied, ","));
        return fmt::format("{}={}", allow, allowed.empty() ? "ALL" : join(allowed, ","));
    };
    const std::string groups = p.allow_groups.empty() ? "ALL" : join(p.allow_groups, ",");
    return fmt::format("AllowGroups={} {} {}", groups,
                       list("AllowAccounts", p.allow_accounts, "DenyAccounts", p.deny_accounts),
                       list("AllowQos", p.allow_qos, "DenyQos", p.deny_qos));
}

std::string memory_limit(std::string_view what, const std::optional<model::MiB>& per_cpu,
                         const std::optional<model::MiB>& per_node) {
    if (per_cpu) return fmt::format("{}PerCPU={}", what, per_cpu->value);
    return fmt::format("{}PerNode={}", what,
                       per_node ? std::to_string(per_node->value) : "UNLIMITED");
}

std::string unlimited_or(const std::optional<std::uint32_t>& value) {
    return value ? std::to_string(*value) : "UNLIMITED";
}

void add_limits(Record& record, const Partition& p) {
    record.line(fmt::format("DefaultTime={} DisableRootJobs={} Exclusive={} GraceTime={} Hidden={}",
                            p.default_time ? model::format_limit(*p.default_time) : "NONE",
                            yes_no(p.disable_root_jobs), p.exclusive_user ? "USER" : "NO",
                            p.grace_time, yes_no(p.hidden)));
    record.line(fmt::format(
        "MaxNodes={} MaxTime={} MinNodes={} LLN={} MaxCPUsPerNode={} MaxCPUsPerSocket=UNLIMITED",
        unlimited_or(p.max_nodes), model::format_limit(p.max_time), p.min_nodes, yes_no(p.lln),
        unlimited_or(p.max_cpus_per_node)));
}

}  // namespace

std::string node_record(const Node& node, const RecordStyle& style) {
    Record record(style);
    add_size_and_gres(record, node, style);
    add_host(record, node);
    add_state(record, node, style);
    const NodeSize size = size_of(node);
    record.line("CfgTRES=" + shown_tres(model::format_node_tres(size.cpus, size.memory,
                                                                as_grants(gres_of(node)), true)));
    record.line("AllocTRES=" + shown_tres(model::format_node_tres(node.used_cpus, node.used_memory,
                                                                  node.used_gres, false)));
    record.line("CurrentWatts=0 AveWatts=0");
    if (node.mark && !node.mark->reason.empty()) {
        record.line(fmt::format("Reason={} [{}@{}]", node.mark->reason, node.mark->by,
                                moment(node.mark->at, "Unknown", style)));
    }
    if (!node.reservation.empty()) record.line("ReservationName=" + node.reservation);
    if (!node.comment.empty()) record.line("Comment=" + node.comment);
    if (!node.extra.empty()) record.line("Extra=" + node.extra);
    if (!node.instance_id.empty() || !node.instance_type.empty()) {
        record.line(fmt::format(
            "{}{}", node.instance_id.empty() ? "" : "InstanceId=" + node.instance_id + " ",
            node.instance_type.empty() ? "" : "InstanceType=" + node.instance_type));
    }
    const std::string protection = protection_of(node);
    if (!protection.empty()) record.line("GresProtection=" + protection);
    const std::string card_use = card_use_of(node);
    if (style.details && !card_use.empty()) record.line("GpuUse=" + card_use);
    if (style.details && node.facts && !node.facts->containment.empty()) {
        record.line("Containment=" + node.facts->containment);
    }
    return record.take();
}

std::string partition_record(const Partition& p, const std::vector<Node>& nodes,
                             const RecordStyle& style) {
    const PartitionTotals totals = totals_of(p, nodes);
    Record record(style);
    record.line("PartitionName=" + p.name);
    record.line(allow_line(p));
    std::string place =
        fmt::format("AllocNodes={} ", p.alloc_nodes.empty() ? "ALL" : join(p.alloc_nodes, ","));
    if (!p.alternate.empty()) place += "Alternate=" + p.alternate + " ";
    record.line(fmt::format("{}Default={} QoS={}", place, yes_no(p.is_default),
                            p.qos.empty() ? "N/A" : p.qos));
    add_limits(record, p);
    record.line("Nodes=" + or_null(model::compress_hostlist(p.nodes)));
    record.line(
        fmt::format("PriorityJobFactor={} PriorityTier={} RootOnly={} ReqResv={} OverSubscribe={}",
                    p.priority_job_factor, p.priority_tier, yes_no(p.root_only),
                    yes_no(p.require_reservation), over_subscribe_text(p)));
    record.line(fmt::format("OverTimeLimit={} PreemptMode={}",
                            p.over_time_limit ? std::to_string(*p.over_time_limit) : "NONE",
                            to_string(p.preempt_mode.value_or(model::PreemptMode::Off))));
    record.line(fmt::format("State={} TotalCPUs={} TotalNodes={} SelectTypeParameters=NONE",
                            model::to_string(p.state), totals.cpus, totals.nodes));
    record.line("JobDefaults=(null)");
    record.line(memory_limit("DefMem", p.def_mem_per_cpu, p.def_mem_per_node) + " " +
                memory_limit("MaxMem", p.max_mem_per_cpu, p.max_mem_per_node));
    record.line("TRES=" + or_null(shown_tres(model::format_tres(totals.cpus, totals.memory,
                                                                totals.nodes, totals.gres))));
    return record.take();
}

}  // namespace switchyard::view
