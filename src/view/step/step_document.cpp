#include "view/step/step_document.hpp"

#include "model/gres.hpp"
#include "model/sluid.hpp"
#include "view/accounting/tres_document.hpp"
#include "view/accounting/usage_text.hpp"
#include "view/job/job_document.hpp"
#include "view/step/step_columns.hpp"

namespace switchyard::view {
namespace {

Number unset_frequency(const model::Step& step) {
    return is_without_share(step) ? Number::of(0) : Number{};
}

Number step_limit(const model::Step& step) {
    const auto& limit = step.spec.time_limit;
    return limit ? limit_number(limit) : Number::unlimited();
}

constexpr std::int64_t kNoElement = 4294967294;

void write_array(Document& document, const model::Job& job) {
    document.begin_map("array");
    document.integer("job_id", job.array ? job.array->array_id.value : 0);
    const bool element = job.array && job.array->element;
    document.integer("task_id", element ? *job.array->element : kNoElement);
    document.end();
}

void write_running_tres(Document& document, const model::Step& step,
                        const model::Allocation& share) {
    document.begin_map("tres");
    document.begin_map("per");
    document.text("cpu", "");
    document.text("memory", "");
    document.text("step", model::to_tres_string(step.spec.gpus_per_step));
    document.text("node", model::to_tres_string(step.spec.gres_per_node));
    document.text("socket", "");
    document.text("task", model::to_tres_string(step.spec.gpus_per_task));
    document.end();
    document.text("allocation", is_without_share(step) ? "" : step_tres(share));
    const std::string& bind = step.spec.gpu_bind;
    document.text("binding", bind.empty() ? "" : "gres/gpu:" + bind);
    document.text("frequency", "");
    document.end();
}

void write_running_frequency(Document& document, const model::Step& step) {
    const Number none = unset_frequency(step);
    document.begin_map("cpu");
    document.begin_map("frequency");
    for (const std::string_view key : {"min", "max", "governor"}) document.number(key, none);
    document.end();
    document.end();
}

void write_running_times(Document& document, const model::Step& step, Instant now) {
    document.begin_map("time");
    const auto start = model::start_of(step);
    const auto run = unix_seconds(now) - unix_seconds(start.value_or(now));
    document.number("running", Number::of(static_cast<std::uint64_t>(run > 0 ? run : 0)));
    document.number("start", moment_number(start));
    document.number("limit", step_limit(step));
    document.end();
}

void write_past_times(Document& document, const SacctRow& row) {
    const model::StepUsage& usage = row.step->usage;
    document.begin_map("time");
    document.integer("elapsed", elapsed(row).count());
    document.number("end", moment_number(ended(row)));
    document.number("start", moment_number(model::start_of(*row.step)));
    document.integer("suspended", suspended(row).count());
    write_cpu_time(document, "system", usage.system_us);
    document.number("limit", step_limit(*row.step));
    write_cpu_time(document, "total", usage.user_us + usage.system_us);
    write_cpu_time(document, "user", usage.user_us);
    document.end();
}

void write_past_place(Document& document, const model::Step& step) {
    std::vector<std::string> nodes;
    for (const model::StepNode& node : step.layout.nodes) nodes.push_back(node.grant.node);
    document.begin_map("nodes");
    document.integer("count", static_cast<std::int64_t>(nodes.size()));
    document.text("range", step_node_list(step));
    document.texts("list", nodes);
    document.end();
    document.begin_map("tasks");
    document.integer("count", extent_of(step).tasks);
    document.end();
    const Number none = unset_frequency(step);
    document.begin_map("CPU");
    document.begin_map("requested_frequency");
    document.number("min", none);
    document.number("max", none);
    document.end();
    document.text("governor", is_without_share(step) ? "0" : "Unknown");
    document.end();
}

}  // namespace

void write_running_step(Document& document, const model::Step& step, const model::Job& job,
                        const StepContext& context) {
    model::Allocation share;
    for (const model::StepNode& node : step.layout.nodes) share.nodes.push_back(node.grant);
    document.begin_map();
    write_array(document, job);
    document.text("cluster", context.cluster);
    for (const std::string_view key : {"container", "container_id", "container_type"})
        document.text(key, "");
    write_running_frequency(document, step);
    write_running_tres(document, step, share);
    document.text("name", step.spec.name);
    document.text("network", job.spec->network);
    document.text("nodes", step_node_list(step, job));
    const StepExtent extent = extent_of(step);
    document.integer("number_cpus", step.key.step == kBatchStep ? 0 : extent.cpus);
    document.integer("number_tasks", extent.tasks);
    document.text("partition", job.partition);
    document.text("reserved_ports", step.resv_ports);
    write_running_times(document, step, context.now);
    document.begin_map("srun");
    document.text("host", step.spec.srun_host);
    document.integer("pid", step.spec.srun_pid);
    document.end();
    document.texts("state", {std::string(model::long_name(model::state_of(step)))});
    document.text("sluid", model::sluid_of(job, context.cluster));
    document.text("id", raw_step_id(step));
    for (const std::string_view key :
         {"stderr", "stdin", "stdout", "stdin_expanded", "stdout_expanded", "stderr_expanded"})
        document.text(key, "");
    document.text("submit_line", step.spec.submit_line);
    document.begin_map("task");
    const std::string distribution = model::to_string(step.spec.distribution);
    const std::string_view unset = is_without_share(step) ? "Unknown" : "Block";
    document.text("distribution", distribution.empty() ? unset : distribution);
    document.end();
    document.text("user", job.spec->user);
    document.end();
}

void write_past_step(Document& document, const SacctRow& row) {
    const model::Step& step = *row.step;
    write_past_times(document, row);
    write_exit(document, "exit_code", exit_of(row));
    write_past_place(document, step);
    document.text("kill_request_user", "");
    document.texts("state", {std::string(model::long_name(state_of(row)))});
    document.begin_map("statistics");
    document.begin_map("CPU");
    document.integer("actual_frequency", static_cast<std::int64_t>(average_khz(step.usage)));
    document.end();
    document.begin_map("energy");
    document.number("consumed", Number::of(joules_of({&step, 1}).value_or(0)));
    document.end();
    document.end();
    document.begin_map("step");
    document.text("id", raw_step_id(step));
    document.text("name", step.spec.name);
    for (const std::string_view key :
         {"stderr", "stdin", "stdout", "stderr_expanded", "stdin_expanded", "stdout_expanded"}) {
        document.text(key, "");
    }
    document.end();
    document.text("submit_line", step.spec.submit_line);
    document.begin_map("task");
    document.text("distribution", layout_text(row));
    document.end();
    document.begin_map("tres");
    write_measures(document, "requested", step.usage, false);
    write_measures(document, "consumed", step.usage, true);
    write_tres_list(document, "allocated",
                    sorted_tres(step_tres(step), false, {.convert = false, .fixed = std::nullopt}));
    document.end();
}

}  // namespace switchyard::view
