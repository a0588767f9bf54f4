#include "view/node/node_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "model/hostlist.hpp"
#include "model/resources.hpp"
#include "view/amount_text.hpp"
#include "view/job/job_document.hpp"
#include "view/node/node_facts.hpp"

namespace switchyard::view {
namespace {

using model::Node;
using model::Partition;

constexpr std::uint16_t kUsualPort = 6818;

std::int64_t load_of(const Node& node) {
    return node.facts ? static_cast<std::int64_t>(node.facts->cpu_load * 100) : 0;
}
std::uint16_t port_of(const Node& node) {
    return node.config.port != 0 ? node.config.port : kUsualPort;
}
std::int64_t count_of(model::MiB amount) { return static_cast<std::int64_t>(amount.value); }

std::vector<std::string> states_of(const Node& node) {
    std::vector<std::string> states;
    for (const std::string_view word : split(model::full_state(node), '+')) {
        states.emplace_back(word);
    }
    return states;
}

// What the node becomes after a reboot that was asked for.
std::string next_state(const Node& node) {
    using After = model::NodeReboot::After;
    if (!node.reboot || node.reboot->after == After::Keep) return "INVALID";
    return node.reboot->after == After::Down ? "DOWN" : "RESUME";
}

std::string gres_used(const Node& node) {
    return model::format_gres_used(gres_of(node), node.used_gres);
}
Number free_memory(const Node& node) {
    return node.facts ? Number::of(node.facts->free_memory.value) : Number{};
}

void write_energy(Document& document) {
    document.begin_map("energy");
    document.integer("average_watts", 0);
    document.integer("base_consumed_energy", 0);
    document.integer("consumed_energy", 0);
    document.number("current_watts", Number::of(0));
    document.integer("previous_consumed_energy", 0);
    document.integer("last_collected", 0);
    document.end();
}

void write_hardware(Document& document, const Node& node, const std::string& cluster) {
    const NodeSize size = size_of(node);
    document.text("architecture", node.facts ? node.facts->arch : "");
    document.text("burstbuffer_network_address", "");
    document.integer("boards", std::max(1u, node.config.boards));
    document.number("boot_time", node.facts ? moment_number(node.facts->booted) : Number::of(0));
    document.number("tls_cert_last_renewal", Number::of(0));
    document.texts("cert_flags", {});
    document.text("cluster_name", cluster);
    document.integer("cores", size.cores_per_socket);
    document.integer("specialized_cores", node.config.core_spec_count);
    document.integer("cpu_binding", 0);
    document.integer("cpu_load", load_of(node));
    document.number("free_mem", free_memory(node));
    document.integer("cpus", size.cpus);
    document.integer("effective_cpus",
                     size.cpus - node.config.core_spec_count * size.threads_per_core);
    document.text("specialized_cpus", "");
    write_energy(document);
    document.text("extra", node.extra);
    document.texts("features", node.config.features);
    document.texts("active_features", node.config.active());
    document.text("gpu_spec", "");
    document.text("gres", model::to_string(gres_of(node)));
    document.text("gres_drained", "N/A");
    document.text("gres_used", gres_used(node));
    document.text("instance_id", node.instance_id);
    document.text("instance_type", node.instance_type);
}

void write_condition(Document& document, const Node& node) {
    document.number("last_busy", moment_number(last_busy(node)));
    document.text("mcs_label", "");
    document.integer("specialized_memory", count_of(node.config.mem_spec_limit));
    document.text("name", node.config.name);
    document.texts("next_state_after_reboot", {next_state(node)});
    document.text("address", address_of(node));
    document.text("hostname", host_name_of(node));
    document.texts("state", states_of(node));
    document.text("operating_system", node.facts ? node.facts->os : "");
    document.text("owner", "");
    document.texts("partitions", node.partitions);
    document.integer("port", port_of(node));
    document.integer("real_memory", count_of(size_of(node).memory));
    document.integer("res_cores_per_gpu", 0);
    document.text("comment", node.comment);
    document.text("reason", node.mark ? node.mark->reason : "");
    document.number("reason_changed_at", node.mark ? moment_number(node.mark->at) : Number::of(0));
    document.text("reason_set_by_user", node.mark ? node.mark->by : "");
    document.number("resume_after", node.resume_at ? moment_number(node.resume_at) : Number::of(0));
    document.text("reservation", node.reservation);
    document.number("suspend_time", Number::unlimited());
}

void write_use(Document& document, const Node& node) {
    const NodeSize size = size_of(node);
    document.integer("alloc_memory", count_of(node.used_memory));
    document.integer("alloc_cpus", node.used_cpus);
    document.integer("alloc_idle_cpus", size.cpus - std::min(size.cpus, node.used_cpus));
    document.text("tres_used", shown_tres(model::format_node_tres(node.used_cpus, node.used_memory,
                                                                  node.used_gres, false)));
    document.number("slurmd_start_time",
                    node.facts ? moment_number(node.facts->agent_started) : Number::of(0));
    document.integer("sockets", size.sockets);
    document.integer("threads", size.threads_per_core);
    document.integer("temporary_disk", count_of(size.tmp_disk));
    document.integer("weight", node.config.weight);
    document.text("topology", "");
    document.text("tres", shown_tres(model::format_node_tres(size.cpus, size.memory,
                                                             as_grants(gres_of(node)), true)));
    document.text("version", node.facts ? node.facts->version : "");
}

// Numbers of a group of nodes: the least and the most.
template <class Value>
void write_range(Document& document, std::string_view key, const std::vector<const Node*>& nodes,
                 Value value) {
    const auto [low, high] =
        std::ranges::minmax(nodes, {}, [&](const Node* n) { return value(*n); });
    document.begin_map(key);
    document.integer("minimum", value(*low));
    document.integer("maximum", value(*high));
    document.end();
}

// What nodes must have in common to stand in one entry.
std::string likeness(const Node& node) {
    const NodeSize size = size_of(node);
    return fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", model::full_state(node),
                       size.cpus, size.sockets, size.cores_per_socket, size.threads_per_core,
                       size.memory.value, size.tmp_disk.value, node.config.weight,
                       join(node.config.features, ","), join(node.config.active(), ","),
                       model::to_string(gres_of(node)), gres_used(node),
                       node.mark ? node.mark->reason : "", node.comment, node.extra);
}

void write_group_counts(Document& document, const Partition& partition,
                        const std::vector<const Node*>& nodes) {
    const Node& first = *nodes.front();
    const auto total = static_cast<std::int64_t>(nodes.size());
    const bool usable = !first.down && !first.drain && first.responding;
    const bool busy = first.used_cpus > 0 || first.running_jobs > 0 || first.completing_jobs > 0;
    document.begin_map("nodes");
    document.integer("allocated", usable && busy ? total : 0);
    document.integer("idle", usable && !busy ? total : 0);
    document.integer("other", usable ? 0 : total);
    document.integer("total", total);
    document.texts("hostnames", {});
    document.texts("addresses", {});
    document.begin_list("nodes");
    for (const Node* node : nodes) document.text({}, node->config.name);
    document.end();
    document.end();

    std::int64_t cpus = 0, used = 0;
    for (const Node* node : nodes) {
        cpus += size_of(*node).cpus;
        used += node->used_cpus;
    }
    const auto cpus_of = [](const Node& node) -> std::int64_t { return size_of(node).cpus; };
    document.begin_map("cpus");
    document.integer("allocated", used);
    document.integer("idle", usable ? cpus - used : 0);
    document.integer("other", usable ? 0 : cpus - used);
    document.integer("total", cpus);
    document.integer("minimum", cpus_of(first));
    document.integer("maximum", cpus_of(first));
    write_range(document, "load", nodes, load_of);
    document.begin_map("per_node");
    document.number("max", partition.max_cpus_per_node ? Number::of(*partition.max_cpus_per_node)
                                                       : Number::unlimited());
    document.end();
    document.end();
}

void write_group_sizes(Document& document, const std::vector<const Node*>& nodes) {
    const auto range = [&](std::string_view key, auto value) {
        write_range(document, key, nodes,
                    [&](const Node& n) { return static_cast<std::int64_t>(value(size_of(n), n)); });
    };
    range("sockets", [](const NodeSize& size, const Node&) { return size.sockets; });
    range("cores", [](const NodeSize& size, const Node&) { return size.cores_per_socket; });
    range("threads", [](const NodeSize& size, const Node&) { return size.threads_per_core; });
    range("disk", [](const NodeSize& size, const Node&) { return size.tmp_disk.value; });
    const auto free_of = [](const Node* node) { return free_memory(*node).number; };
    const auto [least, most] = std::ranges::minmax(nodes, {}, free_of);
    document.begin_map("memory");
    document.integer("minimum", count_of(size_of(*nodes.front()).memory));
    document.integer("maximum", count_of(size_of(*nodes.front()).memory));
    document.begin_map("free");
    document.number("minimum", free_memory(*least));
    document.number("maximum", free_memory(*most));
    document.end();
    // One number for nodes that may differ in it: Slurm's is that of the last.
    document.integer("allocated", count_of(nodes.back()->used_memory));
    document.end();
    range("weight", [](const NodeSize&, const Node& node) { return node.config.weight; });
}

void write_group(Document& document, const Partition& partition, const PartitionTotals& totals,
                 const std::vector<const Node*>& nodes) {
    const Node& first = *nodes.front();
    document.begin_map();
    document.integer("port", port_of(first));
    document.begin_map("node");
    document.texts("state", states_of(first));
    document.end();
    write_group_counts(document, partition, nodes);
    write_group_sizes(document, nodes);
    document.begin_map("features");
    document.text("total", join(first.config.features, ","));
    document.text("active", join(first.config.active(), ","));
    document.end();
    document.begin_map("gres");
    document.text("total", model::to_string(gres_of(first)));
    document.text("used", gres_used(first));
    document.end();
    document.text("cluster", "");
    document.text("comment", first.comment);
    document.text("extra", first.extra);
    document.begin_map("reason");
    document.text("description", first.mark ? first.mark->reason : "");
    document.integer("time", first.mark ? unix_seconds(first.mark->at) : 0);
    document.end();
    document.text("reservation", first.reservation);
    document.text("reason_set_by_user", first.mark ? first.mark->by : "");
    document.begin_map("resource_spec");
    document.text("cpus", "");
    document.integer("memory", count_of(first.config.mem_spec_limit));
    document.end();
    write_partition(document, "partition", partition, totals);
    document.end();
}

Number unlimited_or(const std::optional<std::uint32_t>& value) {
    return value ? Number::of(*value) : Number::unlimited();
}

// The amounts without a limit are said to be 0 of a node.
void write_memory_limits(Document& document, const std::optional<model::MiB>& per_cpu,
                         const std::optional<model::MiB>& per_node) {
    document.integer("memory_per_cpu", per_cpu ? count_of(*per_cpu) : 0);
    document.number("partition_memory_per_cpu", per_cpu ? Number::of(per_cpu->value) : Number{});
    document.number("partition_memory_per_node",
                    per_cpu ? Number{} : Number::of(per_node ? per_node->value : 0));
}

std::vector<std::string> flags_of(const Partition& partition) {
    std::vector<std::string> flags;
    const auto add = [&](bool is_set, const char* name) {
        if (is_set) flags.emplace_back(name);
    };
    add(partition.is_default, "DEFAULT");
    add(partition.hidden, "HIDDEN");
    add(partition.disable_root_jobs, "NO_ROOT");
    add(partition.root_only, "ROOT_ONLY");
    add(partition.require_reservation, "REQ_RESV");
    add(partition.lln, "LLN");
    add(partition.exclusive_user, "EXCLUSIVE_USER");
    return flags;
}

void write_maximums(Document& document, const Partition& partition) {
    const bool shares = partition.over_subscribe == Partition::OverSubscribe::Yes ||
                        partition.over_subscribe == Partition::OverSubscribe::Force;
    document.begin_map("maximums");
    document.number("cpus_per_node", unlimited_or(partition.max_cpus_per_node));
    document.number("cpus_per_socket", Number::unlimited());
    write_memory_limits(document, partition.max_mem_per_cpu, partition.max_mem_per_node);
    document.number("nodes", unlimited_or(partition.max_nodes));
    document.integer("shares", shares ? partition.over_subscribe_count : 0);
    document.begin_map("oversubscribe");
    document.integer("jobs", shares ? partition.over_subscribe_count : 0);
    document.begin_list("flags");
    if (partition.over_subscribe == Partition::OverSubscribe::Force) document.text({}, "force");
    document.end();
    document.end();
    document.number("time", limit_number(partition.max_time));
    document.number("over_time_limit", Number::of(partition.over_time_limit));
    document.end();
}

void write_access(Document& document, const Partition& partition, std::size_t node_count) {
    document.begin_map("nodes");
    document.text("allowed_allocation", join(partition.alloc_nodes, ","));
    document.text("configured", model::compress_hostlist(partition.nodes));
    document.integer("total", static_cast<std::int64_t>(node_count));
    document.end();
    document.begin_map("accounts");
    document.text("allowed", join(partition.allow_accounts, ","));
    document.text("deny", join(partition.deny_accounts, ","));
    document.end();
    document.begin_map("groups");
    document.text("allowed", join(partition.allow_groups, ","));
    document.end();
    document.begin_map("qos");
    document.text("allowed", join(partition.allow_qos, ","));
    document.text("deny", join(partition.deny_qos, ","));
    document.text("assigned", partition.qos);
    document.end();
    document.text("alternate", partition.alternate);
}

void write_rules(Document& document, const Partition& partition) {
    document.begin_map("defaults");
    write_memory_limits(document, partition.def_mem_per_cpu, partition.def_mem_per_node);
    document.number("time", limit_number(partition.default_time));
    document.text("job", "");
    document.end();
    document.texts("flags", flags_of(partition));
    document.begin_map("partition");
    document.text("exclusive", partition.exclusive_user ? "USER" : "NO");
    document.text("oversubscribe", over_subscribe_text(partition));
    document.texts("state", {std::string(model::to_string(partition.state))});
    document.end();
    document.integer("grace_time", partition.grace_time);
    write_maximums(document, partition);
    document.begin_map("minimums");
    document.integer("nodes", partition.min_nodes);
    document.end();
    document.text("name", partition.name);
    document.text("node_sets", "");
    document.texts("preempt_mode",
                   {partition.preempt_mode ? std::string(to_string(*partition.preempt_mode))
                                           : "CLUSTER_GLOBAL"});
    document.begin_map("priority");
    document.integer("job_factor", partition.priority_job_factor);
    document.integer("tier", partition.priority_tier);
    document.end();
    document.begin_map("timeouts");
    document.number("resume", {});
    document.number("suspend", {});
    document.end();
    document.text("topology", "");
    document.number("suspend_time", {});
}

}  // namespace

void write_node(Document& document, const Node& node, const std::string& cluster) {
    document.begin_map();
    write_hardware(document, node, cluster);
    write_condition(document, node);
    write_use(document, node);
    document.end();
}

void write_partition(Document& document, std::string_view key, const Partition& partition,
                     const PartitionTotals& totals) {
    document.begin_map(key);
    write_access(document, partition, totals.nodes);
    document.begin_map("tres");
    document.text("billing_weights", "");
    document.text("configured", shown_tres(model::format_tres(totals.cpus, totals.memory,
                                                              totals.nodes, totals.gres)));
    document.end();
    document.text("cluster", "");
    document.texts("select_type", {"NONE"});
    document.begin_map("cpus");
    document.texts("task_binding", {});
    document.integer("total", static_cast<std::int64_t>(totals.cpus));
    document.end();
    write_rules(document, partition);
    document.end();
}

void write_node_groups(Document& document, const std::vector<Partition>& partitions,
                       const std::vector<PartitionTotals>& totals, const std::vector<Node>& nodes) {
    std::map<std::string_view, const Node*> by_name;
    for (const Node& node : nodes) by_name.emplace(node.config.name, &node);
    document.begin_list("sinfo");
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        const Partition& partition = partitions[i];
        std::vector<std::vector<const Node*>> groups;
        std::map<std::string, std::size_t> known;  // Likeness to place in `groups`.
        for (const std::string& name : partition.nodes) {
            const auto node = by_name.find(name);
            if (node == by_name.end()) continue;
            const auto [place, is_new] = known.try_emplace(likeness(*node->second), groups.size());
            if (is_new) groups.emplace_back();
            groups[place->second].push_back(node->second);
        }
        for (const auto& group : groups) write_group(document, partition, totals[i], group);
    }
    document.end();
}

}  // namespace switchyard::view
