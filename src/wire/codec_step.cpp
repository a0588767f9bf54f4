// codec_step.cpp: a step: what srun asked for, where its tasks are, how it ended.
#include "wire/codec_parts.hpp"

namespace switchyard::wire {

void encode(const model::StepSpec& from, StepSpec* to) {
    if (!from.name.empty()) to->set_name(from.name);
    if (from.nodes_min) to->set_nodes_min(*from.nodes_min);
    if (from.nodes_max) to->set_nodes_max(*from.nodes_max);
    if (from.tasks) to->set_tasks(*from.tasks);
    if (from.cpus_per_task) to->set_cpus_per_task(*from.cpus_per_task);
    if (from.tasks_per_node) to->set_tasks_per_node(*from.tasks_per_node);
    if (!is_default(from.memory)) encode(from.memory, to->mutable_memory());
    encode_all(from.gres_per_node, to->mutable_gres_per_node());
    to->set_gres_none(from.gres_none);
    put_strings(from.required_nodes, to->mutable_required_nodes());
    put_strings(from.excluded_nodes, to->mutable_excluded_nodes());
    if (from.relative) to->set_relative(*from.relative);
    if (!is_default(from.distribution)) encode(from.distribution, to->mutable_distribution());
    to->set_overlap(from.overlap);
    to->set_exact(from.exact);
    to->set_whole(from.whole);
    to->set_overcommit(from.overcommit);
    to->set_immediate(from.immediate);
    if (from.time_limit) encode(*from.time_limit, to->mutable_time_limit());
    to->set_interactive(from.interactive);
    if (!from.submit_line.empty()) to->set_submit_line(from.submit_line);
    encode_all(from.gpus_per_step, to->mutable_gpus_per_step());
    encode_all(from.gpus_per_task, to->mutable_gpus_per_task());
    if (from.tasks_per_gpu) to->set_tasks_per_gpu(*from.tasks_per_gpu);
    if (!from.gpu_bind.empty()) to->set_gpu_bind(from.gpu_bind);
    if (from.resv_ports) to->set_resv_ports(*from.resv_ports);
    to->set_detached(from.detached);
    if (!from.srun_host.empty()) to->set_srun_host(from.srun_host);
    if (from.srun_pid != 0) to->set_srun_pid(from.srun_pid);
}

Status decode_into(const StepSpec& from, model::StepSpec& to) {
    to.name = from.name();
    if (from.has_nodes_min()) to.nodes_min = from.nodes_min();
    if (from.has_nodes_max()) to.nodes_max = from.nodes_max();
    if (from.has_tasks()) to.tasks = from.tasks();
    if (from.has_cpus_per_task()) to.cpus_per_task = from.cpus_per_task();
    if (from.has_tasks_per_node()) to.tasks_per_node = from.tasks_per_node();
    if (from.has_memory()) SY_CHECK(read_message(from.memory(), to.memory));
    SY_CHECK(decode_all(from.gres_per_node(), to.gres_per_node));
    to.gres_none = from.gres_none();
    to.required_nodes = strings_of(from.required_nodes());
    to.excluded_nodes = strings_of(from.excluded_nodes());
    if (from.has_relative()) to.relative = from.relative();
    if (from.has_distribution()) SY_CHECK(read_message(from.distribution(), to.distribution));
    to.overlap = from.overlap();
    to.exact = from.exact();
    to.whole = from.whole();
    to.overcommit = from.overcommit();
    to.immediate = from.immediate();
    if (from.has_time_limit()) SY_CHECK(read_message(from.time_limit(), to.time_limit));
    to.interactive = from.interactive();
    to.submit_line = from.submit_line();
    SY_CHECK(decode_all(from.gpus_per_step(), to.gpus_per_step));
    SY_CHECK(decode_all(from.gpus_per_task(), to.gpus_per_task));
    if (from.has_tasks_per_gpu()) to.tasks_per_gpu = from.tasks_per_gpu();
    to.gpu_bind = from.gpu_bind();
    if (from.has_resv_ports()) to.resv_ports = from.resv_ports();
    to.detached = from.detached();
    to.srun_host = from.srun_host();
    to.srun_pid = from.srun_pid();
    return {};
}

void encode(const model::HetStep& from, HetStep* to) {
    to->set_task_offset(from.task_offset);
    to->set_tasks(from.tasks);
    to->set_node_offset(from.node_offset);
    to->set_nodes(from.nodes);
}

model::HetStep decode(const HetStep& from) {
    return {from.task_offset(), from.tasks(), from.node_offset(), from.nodes()};
}

void encode(const model::StepNode& from, StepNode* to) {
    encode(from.grant, to->mutable_grant());
    to->mutable_tasks()->Add(from.tasks.begin(), from.tasks.end());
}

Status decode_into(const StepNode& from, model::StepNode& to) {
    if (from.has_grant()) SY_CHECK(read_message(from.grant(), to.grant));
    to.tasks.assign(from.tasks().begin(), from.tasks().end());
    return {};
}

void encode(const model::StepEnd& from, StepEnd* to) {
    to->set_ended(millis_of(from.ended));
    to->set_state(number_of(from.state));
    if (!is_default(from.exit)) encode(from.exit, to->mutable_exit());
}

Status decode_into(const StepEnd& from, model::StepEnd& to) {
    to.ended = instant_of(from.ended());
    SY_CHECK(read_enum(from.state(), model::kJobStateLast, "state", to.state));
    if (from.has_exit()) SY_CHECK(read_message(from.exit(), to.exit));
    return {};
}

void encode(const model::StepLayout& from, StepLayout* to) {
    encode_all(from.nodes, to->mutable_nodes());
}

Status decode_into(const StepLayout& from, model::StepLayout& to) {
    SY_CHECK(decode_all(from.nodes(), to.nodes));
    return {};
}

namespace {

void encode_mark(const model::UsageMark& from, UsageMark* to) {
    to->set_value(from.value);
    if (!from.node.empty()) to->set_node(from.node);
    to->set_task(from.task);
}

model::UsageMark decode_mark(const UsageMark& from) {
    return {.value = from.value(), .node = from.node(), .task = from.task()};
}

}  // namespace

void encode(const model::StepUsage& from, StepUsage* to) {
    to->set_user_us(from.user_us);
    to->set_system_us(from.system_us);
    for (const model::UsageMeasure& each : from.measures) {
        UsageMeasure& measure = *to->add_measures();
        measure.set_name(each.name);
        measure.set_out(each.out);
        measure.set_total(each.total);
        measure.set_tasks(each.tasks);
        encode_mark(each.max, measure.mutable_max());
        if (each.min != each.max) encode_mark(each.min, measure.mutable_min());
    }
}

model::StepUsage decode(const StepUsage& from) {
    model::StepUsage to;
    to.user_us = from.user_us();
    to.system_us = from.system_us();
    to.measures.reserve(static_cast<std::size_t>(from.measures_size()));
    for (const UsageMeasure& each : from.measures()) {
        to.measures.push_back({.name = each.name(),
                               .out = each.out(),
                               .total = each.total(),
                               .tasks = each.tasks(),
                               .max = decode_mark(each.max()),
                               .min = decode_mark(each.has_min() ? each.min() : each.max())});
    }
    return to;
}

void encode(const model::Step& from, Step* to) {
    to->set_nonce(from.nonce);
    encode(from.spec, to->mutable_spec());
    encode(from.layout, to->mutable_layout());
    to->set_started(millis_of(from.started));
    if (from.submitted != from.started) to->set_submitted(millis_of(from.submitted));
    put_strings(from.running_nodes, to->mutable_running_nodes());
    if (!is_default(from.worst_exit)) encode(from.worst_exit, to->mutable_worst_exit());
    if (!from.usage.empty()) encode(from.usage, to->mutable_usage());
    if (from.end) encode(*from.end, to->mutable_end());
    encode_key(from.key, to->mutable_key());
    if (!from.resv_ports.empty()) to->set_resv_ports(from.resv_ports);
    if (from.het) encode(*from.het, to->mutable_het());
}

Status decode_into(const Step& from, model::Step& to) {
    to.nonce = from.nonce();
    if (from.has_spec()) SY_CHECK(read_message(from.spec(), to.spec));
    if (from.has_layout()) SY_CHECK(read_message(from.layout(), to.layout));
    to.started = instant_of(from.started());
    to.submitted = from.has_submitted() ? instant_of(from.submitted()) : to.started;
    to.running_nodes = strings_of(from.running_nodes());
    if (from.has_worst_exit()) SY_CHECK(read_message(from.worst_exit(), to.worst_exit));
    if (from.has_usage()) to.usage = decode(from.usage());
    if (from.has_end()) SY_CHECK(read_message(from.end(), to.end));
    to.key = decode(from.key());
    to.resv_ports = from.resv_ports();
    if (from.has_het()) to.het = decode(from.het());
    return {};
}

}  // namespace switchyard::wire
