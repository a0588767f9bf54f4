// site_words.cpp: see site_words.hpp.

#include "core/testing/site_words.hpp"

#include "model/gres.hpp"
#include "model/hostlist.hpp"
#include "model/partition.hpp"

namespace switchyard::core::testing {
namespace {

std::vector<model::GresInventory> parse_inventory(const std::string& text) {
    std::vector<model::GresInventory> inventory;
    for (const auto& request : *model::parse_gres(text)) {
        model::GresInventory gres;
        gres.name = request.name;
        gres.type = request.type;
        gres.count = request.count;
        if (gres.name == "gpu")
            gres.devices = model::IndexSet::range(0, static_cast<std::uint32_t>(gres.count) - 1);
        inventory.push_back(std::move(gres));
    }
    return inventory;
}

}  // namespace

void configure(const Words& words, Settings& settings, Unknown& unknown) {
    for (const auto& [key, value] : words.values) {
        const auto seconds = [&] { return Seconds{std::stoll(value)}; };
        if (key == "backfill")
            settings.backfill = value == "yes";
        else if (key == "preempt") {
            settings.preempt.by_tier = true;
            settings.preempt.mode = model::parse_preempt_mode(value)->mode;
        } else if (key == "exempt")
            settings.preempt.exempt = seconds();
        else if (key == "youngest")
            settings.preempt.youngest_first = value == "yes";
        else if (key == "exempt_priority")
            settings.preempt.min_exempt_priority = number(value);
        else if (key == "user_signal")
            settings.preempt.send_user_signal = value == "yes";
        else if (key == "window")
            settings.backfill_window = seconds();
        else if (key == "idle_gpus")
            settings.idle_gpus = value == "requeue"  ? Settings::IdleGpus::Requeue
                                 : value == "cancel" ? Settings::IdleGpus::Cancel
                                                     : Settings::IdleGpus::Mail;
        else if (key == "enforce")
            settings.enforce_partition_limits = value == "yes";
        else if (key == "defmem")
            settings.def_mem_per_cpu = model::MiB{std::stoull(value)};
        else if (key == "maxmemcpu")
            settings.max_mem_per_cpu = model::MiB{std::stoull(value)};
        else if (key == "prepare")
            settings.prepare_nodes = value == "yes";
        else if (key == "run_prolog")
            settings.run_prolog = value == "yes";
        else if (key == "run_epilog")
            settings.run_epilog = value == "yes";
        else if (key == "ports") {
            const auto dash = value.find('-');
            settings.first_port = static_cast<std::uint16_t>(number(value.substr(0, dash)));
            settings.last_port = static_cast<std::uint16_t>(number(value.substr(dash + 1)));
        } else if (key == "min_age")
            settings.min_job_age = seconds();
        else if (key == "node_timeout")
            settings.node_timeout = seconds();
        else if (key == "owner_grace")
            settings.owner_grace = seconds();
        else if (key == "return")
            settings.return_to_service = static_cast<std::uint8_t>(std::stoi(value));
        else if (key == "requeue")
            settings.requeue_by_default = value == "yes";
        else if (key == "kill_invalid")
            settings.kill_invalid_dependency = value == "yes";
        else if (key == "reboot")
            settings.can_reboot = value == "yes";
        else if (key == "resume_timeout")
            settings.resume_timeout = seconds();
        else if (key == "triggers")
            settings.users_set_triggers = value == "yes";
        else if (key == "over")
            settings.over_time_limit = number(value);
        else if (key == "lic")
            settings.licenses = *model::parse_licenses(value);
        else if (key == "overrun")
            settings.reservation_over_run = Minutes{number(value)};
        else if (key == "unit")
            settings.unit = value == "socket" ? Settings::Unit::Socket : Settings::Unit::WholeNode;
        else
            unknown.push_back(key);
    }
}

void add_node(const Words& words, Settings& settings) {
    for (const std::string& name : *model::expand_hostlist(words.plain.at(1))) {
        model::NodeConfig node;
        node.name = name;
        const std::uint32_t threads = words.number("threads", 1),
                            sockets = words.number("sockets", 1);
        node.cpus = words.number("cpus", 8);
        node.sockets = sockets;
        node.threads_per_core = threads;
        node.cores_per_socket = node.cpus / threads / sockets;
        node.memory = model::MiB{words.number("mem", 4000)};
        node.weight = words.number("weight", 1);
        for (const auto feature : split(words.get("features"), ','))
            node.features.emplace_back(feature);
        if (words.values.contains("gres")) node.gres = parse_inventory(words.get("gres"));
        settings.nodes.push_back(std::move(node));
    }
}

void add_partition(const Words& words, Settings& settings) {
    model::Partition partition;
    partition.name = words.plain.at(1);
    partition.nodes = *model::expand_hostlist(words.get("nodes"));
    partition.is_default = words.has("default");
    if (words.values.contains("max")) partition.max_time = minutes(words.get("max"));
    if (words.values.contains("deftime")) partition.default_time = minutes(words.get("deftime"));
    if (words.get("state") == "down") partition.state = model::PartitionState::Down;
    partition.priority_tier = words.number("tier", 1);
    partition.grace_time = words.number("grace", 0);
    if (words.values.contains("preempt"))
        partition.preempt_mode = model::parse_preempt_mode(words.get("preempt"))->mode;
    if (words.get("share") == "force")
        partition.over_subscribe = model::Partition::OverSubscribe::Force;
    if (words.get("share") == "exclusive")
        partition.over_subscribe = model::Partition::OverSubscribe::Exclusive;
    settings.partitions.push_back(std::move(partition));
}

}  // namespace switchyard::core::testing
