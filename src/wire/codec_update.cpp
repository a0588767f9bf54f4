// codec_update.cpp: which jobs are meant, and changes to jobs, nodes and partitions.
#include "wire/codec_fields.hpp"

namespace switchyard::wire {

void encode(const model::TimeLimitChange& from, TimeLimitChange* to) {
    to->set_mode(number_of(from.mode));
    encode(from.limit, to->mutable_limit());
}

Status decode_into(const TimeLimitChange& from, model::TimeLimitChange& to) {
    SY_CHECK(read_enum(from.mode(), model::TimeLimitChange::Mode::Subtract, "mode", to.mode));
    if (from.has_limit()) SY_CHECK(read_message(from.limit(), to.limit));
    return {};
}

void encode(const model::JobSelector& from, JobSelector* to) {
    to->set_job(from.job.value);
    to->set_all_elements(from.all_elements);
    if (from.elements) to->set_elements(to_string(*from.elements));
    if (from.step) to->set_step(from.step->value);
    to->set_component(from.component);
}

Status decode_into(const JobSelector& from, model::JobSelector& to) {
    to.job.value = from.job();
    to.all_elements = from.all_elements();
    if (from.has_elements()) {
        SY_CHECK(read_set(from.elements(), to.elements.emplace(), limits::kSelectorIntervalsMax));
    }
    if (from.has_step()) to.step = StepId{from.step()};
    to.component = from.component();
    return {};
}

namespace {

namespace fields {
#define SY_UPDATE_ACCESS(type, ...) SY_ACCESS(__VA_ARGS__)
SY_JOB_UPDATE_FIELDS(SY_UPDATE_ACCESS)
}  // namespace fields

}  // namespace

#define SY_WRITE_UPDATE(type, ...) SY_WRITE(__VA_ARGS__)
#define SY_READ_UPDATE(type, ...) SY_READ(__VA_ARGS__)
void encode(const model::JobUpdate& from, JobUpdate* to) { SY_JOB_UPDATE_FIELDS(SY_WRITE_UPDATE); }
Status decode_into(const JobUpdate& from, model::JobUpdate& to) {
    SY_JOB_UPDATE_FIELDS(SY_READ_UPDATE)
    return {};
}

void encode(const model::NodeUpdate& from, NodeUpdate* to) {
    put_strings(from.nodes, to->mutable_nodes());
    to->set_verb(number_of(from.verb));
    if (from.reason) to->set_reason(*from.reason);
    if (from.comment) to->set_comment(*from.comment);
    if (from.extra) to->set_extra(*from.extra);
    if (from.weight) to->set_weight(*from.weight);
    const auto put = [](const auto& list, auto add) {
        if (list) put_strings(*list, add()->mutable_values());
    };
    put(from.features, [&] { return to->mutable_features(); });
    put(from.active_features, [&] { return to->mutable_active_features(); });
    put(from.instance_ids, [&] { return to->mutable_instance_ids(); });
    put(from.instance_types, [&] { return to->mutable_instance_types(); });
    put(from.addresses, [&] { return to->mutable_addresses(); });
    put(from.host_names, [&] { return to->mutable_host_names(); });
    if (from.resume_after) to->set_resume_after(from.resume_after->count());
}

Status decode_into(const NodeUpdate& from, model::NodeUpdate& to) {
    to.nodes = strings_of(from.nodes());
    SY_CHECK(read_enum(from.verb(), model::NodeVerb::CancelReboot, "verb", to.verb));
    if (from.has_reason()) to.reason = from.reason();
    if (from.has_comment()) to.comment = from.comment();
    if (from.has_extra()) to.extra = from.extra();
    if (from.has_weight()) to.weight = from.weight();
    if (from.has_features()) to.features = strings_of(from.features().values());
    if (from.has_active_features())
        to.active_features = strings_of(from.active_features().values());
    if (from.has_instance_ids()) to.instance_ids = strings_of(from.instance_ids().values());
    if (from.has_instance_types()) to.instance_types = strings_of(from.instance_types().values());
    if (from.has_addresses()) to.addresses = strings_of(from.addresses().values());
    if (from.has_host_names()) to.host_names = strings_of(from.host_names().values());
    if (from.has_resume_after()) to.resume_after = Seconds{from.resume_after()};
    return {};
}

namespace {

void encode_rules(const model::PartitionUpdate& from, PartitionUpdate* to) {
    if (from.deny_accounts)
        put_strings(*from.deny_accounts, to->mutable_deny_accounts()->mutable_values());
    if (from.allow_qos) put_strings(*from.allow_qos, to->mutable_allow_qos()->mutable_values());
    if (from.deny_qos) put_strings(*from.deny_qos, to->mutable_deny_qos()->mutable_values());
    if (from.alloc_nodes)
        put_strings(*from.alloc_nodes, to->mutable_alloc_nodes()->mutable_values());
    if (from.qos) to->set_qos(*from.qos);
    if (from.alternate) to->set_alternate(*from.alternate);
    if (from.disable_root_jobs) to->set_disable_root_jobs(*from.disable_root_jobs);
    if (from.lln) to->set_lln(*from.lln);
    if (from.require_reservation) to->set_require_reservation(*from.require_reservation);
    if (from.exclusive_user) to->set_exclusive_user(*from.exclusive_user);
    if (from.max_cpus_per_node) to->set_max_cpus_per_node(*from.max_cpus_per_node);
    if (from.over_time_limit) to->set_over_time_limit(*from.over_time_limit);
    if (from.def_mem_per_cpu) to->set_def_mem_per_cpu(from.def_mem_per_cpu->value);
    if (from.def_mem_per_node) to->set_def_mem_per_node(from.def_mem_per_node->value);
    if (from.max_mem_per_cpu) to->set_max_mem_per_cpu(from.max_mem_per_cpu->value);
    if (from.max_mem_per_node) to->set_max_mem_per_node(from.max_mem_per_node->value);
}
void decode_rules(const PartitionUpdate& from, model::PartitionUpdate& to) {
    if (from.has_deny_accounts()) to.deny_accounts = strings_of(from.deny_accounts().values());
    if (from.has_allow_qos()) to.allow_qos = strings_of(from.allow_qos().values());
    if (from.has_deny_qos()) to.deny_qos = strings_of(from.deny_qos().values());
    if (from.has_alloc_nodes()) to.alloc_nodes = strings_of(from.alloc_nodes().values());
    if (from.has_qos()) to.qos = from.qos();
    if (from.has_alternate()) to.alternate = from.alternate();
    if (from.has_disable_root_jobs()) to.disable_root_jobs = from.disable_root_jobs();
    if (from.has_lln()) to.lln = from.lln();
    if (from.has_require_reservation()) to.require_reservation = from.require_reservation();
    if (from.has_exclusive_user()) to.exclusive_user = from.exclusive_user();
    if (from.has_max_cpus_per_node()) to.max_cpus_per_node = from.max_cpus_per_node();
    if (from.has_over_time_limit()) to.over_time_limit = from.over_time_limit();
    if (from.has_def_mem_per_cpu()) to.def_mem_per_cpu = model::MiB{from.def_mem_per_cpu()};
    if (from.has_def_mem_per_node()) to.def_mem_per_node = model::MiB{from.def_mem_per_node()};
    if (from.has_max_mem_per_cpu()) to.max_mem_per_cpu = model::MiB{from.max_mem_per_cpu()};
    if (from.has_max_mem_per_node()) to.max_mem_per_node = model::MiB{from.max_mem_per_node()};
}

}  // namespace

void encode(const model::PartitionUpdate& from, PartitionUpdate* to) {
    encode_rules(from, to);
    to->set_action(number_of(from.action));
    if (!from.name.empty()) to->set_name(from.name);
    if (from.nodes) put_strings(*from.nodes, to->mutable_nodes()->mutable_values());
    if (from.allow_groups)
        put_strings(*from.allow_groups, to->mutable_allow_groups()->mutable_values());
    if (from.allow_accounts)
        put_strings(*from.allow_accounts, to->mutable_allow_accounts()->mutable_values());
    if (from.state) to->set_state(number_of(*from.state));
    if (from.is_default) to->set_is_default(*from.is_default);
    if (from.hidden) to->set_hidden(*from.hidden);
    if (from.root_only) to->set_root_only(*from.root_only);
    if (from.max_time) encode(*from.max_time, to->mutable_max_time());
    if (from.min_nodes) to->set_min_nodes(*from.min_nodes);
    if (from.priority_tier) to->set_priority_tier(*from.priority_tier);
    if (from.priority_job_factor) to->set_priority_job_factor(*from.priority_job_factor);
    if (from.over_subscribe) to->set_over_subscribe(number_of(*from.over_subscribe));
    if (from.grace_time) to->set_grace_time(*from.grace_time);
    if (from.preempt_mode) to->set_preempt_mode(number_of(*from.preempt_mode));
    // Set to nothing is not the same as left as it is.
    if (from.default_time) {
        if (*from.default_time) encode(**from.default_time, to->mutable_default_time());
        to->set_clear_default_time(!from.default_time->has_value());
    }
    if (from.max_nodes) {
        if (*from.max_nodes) to->set_max_nodes(**from.max_nodes);
        to->set_clear_max_nodes(!from.max_nodes->has_value());
    }
}

Status decode_into(const PartitionUpdate& from, model::PartitionUpdate& to) {
    SY_CHECK(read_enum(from.action(), model::PartitionUpdate::Action::Delete, "action", to.action));
    to.name = from.name();
    decode_rules(from, to);
    if (from.has_nodes()) to.nodes = strings_of(from.nodes().values());
    if (from.has_allow_groups()) to.allow_groups = strings_of(from.allow_groups().values());
    if (from.has_allow_accounts()) to.allow_accounts = strings_of(from.allow_accounts().values());
    if (from.has_state())
        SY_CHECK(
            read_enum(from.state(), model::PartitionState::Inactive, "state", to.state.emplace()));
    if (from.has_is_default()) to.is_default = from.is_default();
    if (from.has_hidden()) to.hidden = from.hidden();
    if (from.has_root_only()) to.root_only = from.root_only();
    if (from.has_max_time()) SY_CHECK(read_message(from.max_time(), to.max_time));
    if (from.has_min_nodes()) to.min_nodes = from.min_nodes();
    if (from.has_priority_tier()) to.priority_tier = from.priority_tier();
    if (from.has_priority_job_factor()) to.priority_job_factor = from.priority_job_factor();
    if (from.has_over_subscribe())
        SY_CHECK(read_enum(from.over_subscribe(), model::Partition::OverSubscribe::Exclusive,
                           "over_subscribe", to.over_subscribe.emplace()));
    if (from.has_grace_time()) to.grace_time = from.grace_time();
    if (from.has_preempt_mode())
        SY_CHECK(read_enum(from.preempt_mode(), model::PreemptMode::Suspend, "preempt_mode",
                           to.preempt_mode.emplace()));
    if (from.has_default_time())
        SY_CHECK(read_message(from.default_time(), to.default_time.emplace().emplace()));
    if (from.clear_default_time()) to.default_time.emplace();
    if (from.has_max_nodes()) to.max_nodes.emplace(from.max_nodes());
    if (from.clear_max_nodes()) to.max_nodes.emplace();
    return {};
}

}  // namespace switchyard::wire
