// codec_partition.cpp: a partition and its rules.
#include "wire/codec_parts.hpp"

namespace switchyard::wire {

void encode(const model::Partition& from, Partition* to) {
    if (!from.name.empty()) to->set_name(from.name);
    put_strings(from.nodes, to->mutable_nodes());
    to->set_is_default(from.is_default);
    to->set_hidden(from.hidden);
    to->set_root_only(from.root_only);
    to->set_disable_root_jobs(from.disable_root_jobs);
    to->set_lln(from.lln);
    to->set_require_reservation(from.require_reservation);
    to->set_exclusive_user(from.exclusive_user);
    to->set_state(number_of(from.state));
    encode(from.max_time, to->mutable_max_time());
    if (from.default_time) encode(*from.default_time, to->mutable_default_time());
    to->set_min_nodes(from.min_nodes);
    if (from.max_nodes) to->set_max_nodes(*from.max_nodes);
    if (from.max_cpus_per_node) to->set_max_cpus_per_node(*from.max_cpus_per_node);
    if (from.def_mem_per_cpu) to->set_def_mem_per_cpu(from.def_mem_per_cpu->value);
    if (from.def_mem_per_node) to->set_def_mem_per_node(from.def_mem_per_node->value);
    if (from.max_mem_per_cpu) to->set_max_mem_per_cpu(from.max_mem_per_cpu->value);
    if (from.max_mem_per_node) to->set_max_mem_per_node(from.max_mem_per_node->value);
    to->set_priority_tier(from.priority_tier);
    to->set_priority_job_factor(from.priority_job_factor);
    to->set_over_subscribe(number_of(from.over_subscribe));
    to->set_over_subscribe_count(from.over_subscribe_count);
    put_strings(from.allow_groups, to->mutable_allow_groups());
    put_strings(from.allow_accounts, to->mutable_allow_accounts());
    put_strings(from.deny_accounts, to->mutable_deny_accounts());
    put_strings(from.allow_qos, to->mutable_allow_qos());
    put_strings(from.deny_qos, to->mutable_deny_qos());
    put_strings(from.alloc_nodes, to->mutable_alloc_nodes());
    if (!from.qos.empty()) to->set_qos(from.qos);
    if (!from.alternate.empty()) to->set_alternate(from.alternate);
    to->set_grace_time(from.grace_time);
    if (from.over_time_limit) to->set_over_time_limit(*from.over_time_limit);
    if (from.preempt_mode) to->set_preempt_mode(std::string(model::to_string(*from.preempt_mode)));
    if (from.concealed) to->set_concealed(true);
}

Status decode_into(const Partition& from, model::Partition& to) {
    to.name = from.name();
    to.nodes = strings_of(from.nodes());
    to.is_default = from.is_default();
    to.hidden = from.hidden();
    to.concealed = from.concealed();
    to.root_only = from.root_only();
    to.disable_root_jobs = from.disable_root_jobs();
    to.lln = from.lln();
    to.require_reservation = from.require_reservation();
    to.exclusive_user = from.exclusive_user();
    SY_CHECK(read_enum(from.state(), model::PartitionState::Inactive, "state", to.state));
    if (from.has_max_time()) SY_CHECK(read_message(from.max_time(), to.max_time));
    if (from.has_default_time()) SY_CHECK(read_message(from.default_time(), to.default_time));
    to.min_nodes = from.min_nodes();
    if (from.has_max_nodes()) to.max_nodes = from.max_nodes();
    if (from.has_max_cpus_per_node()) to.max_cpus_per_node = from.max_cpus_per_node();
    if (from.has_def_mem_per_cpu()) to.def_mem_per_cpu = model::MiB{from.def_mem_per_cpu()};
    if (from.has_def_mem_per_node()) to.def_mem_per_node = model::MiB{from.def_mem_per_node()};
    if (from.has_max_mem_per_cpu()) to.max_mem_per_cpu = model::MiB{from.max_mem_per_cpu()};
    if (from.has_max_mem_per_node()) to.max_mem_per_node = model::MiB{from.max_mem_per_node()};
    to.priority_tier = from.priority_tier();
    to.priority_job_factor = from.priority_job_factor();
    SY_CHECK(read_enum(from.over_subscribe(), model::Partition::OverSubscribe::Exclusive,
                       "over_subscribe", to.over_subscribe));
    to.over_subscribe_count = from.over_subscribe_count();
    to.allow_groups = strings_of(from.allow_groups());
    to.allow_accounts = strings_of(from.allow_accounts());
    to.deny_accounts = strings_of(from.deny_accounts());
    to.allow_qos = strings_of(from.allow_qos());
    to.deny_qos = strings_of(from.deny_qos());
    to.alloc_nodes = strings_of(from.alloc_nodes());
    to.qos = from.qos();
    to.alternate = from.alternate();
    to.grace_time = from.grace_time();
    if (from.has_over_time_limit()) to.over_time_limit = from.over_time_limit();
    // Once any word was kept; one that says nothing is the cluster's.
    if (const auto words = model::parse_preempt_mode(from.preempt_mode());
        words && !from.preempt_mode().empty())
        to.preempt_mode = words->mode;
    return {};
}

}  // namespace switchyard::wire
