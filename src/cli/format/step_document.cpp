#include "cli/format/step_document.hpp"

#include "cli/format/job_document.hpp"
#include "cli/format/step_columns.hpp"
#include "model/gres.hpp"
#include "model/sluid.hpp"

namespace switchyard::cli::format {
namespace {

constexpr std::int64_t kNoElement = 4294967294;

void write_array(Document& document, const model::Job& job) {
    document.begin_map("array");
    document.integer("job_id", job.array ? job.array->array_id.value : 0);
    const bool element = job.array && job.array->element;
    document.integer("task_id", element ? *job.array->element : kNoElement);
    document.end();
}

void write_tres(Document& document, const model::Step& step, const model::Allocation& share) {
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

void write_frequency(Document& document, const model::Step& step) {
    const Number none = is_without_share(step) ? Number::of(0) : Number{};
    document.begin_map("cpu");
    document.begin_map("frequency");
    for (const std::string_view key : {"min", "max", "governor"}) document.number(key, none);
    document.end();
    document.end();
}

void write_times(Document& document, const model::Step& step, Instant now) {
    document.begin_map("time");
    const auto start = model::start_of(step);
    const auto run = unix_seconds(now) - unix_seconds(start.value_or(now));
    document.number("running", Number::of(static_cast<std::uint64_t>(run > 0 ? run : 0)));
    document.number("start", moment_number(start));
    const auto& limit = step.spec.time_limit;
    document.number("limit", limit ? limit_number(limit) : Number::unlimited());
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
    write_frequency(document, step);
    write_tres(document, step, share);
    document.text("name", step.spec.name);
    document.text("network", job.spec->network);
    document.text("nodes", step_node_list(step, job));
    const StepExtent extent = extent_of(step);
    document.integer("number_cpus", step.key.step == kBatchStep ? 0 : extent.cpus);
    document.integer("number_tasks", extent.tasks);
    document.text("partition", job.partition);
    document.text("reserved_ports", step.resv_ports);
    write_times(document, step, context.now);
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

}  // namespace switchyard::cli::format
