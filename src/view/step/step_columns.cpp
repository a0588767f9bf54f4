#include "view/step/step_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/gres.hpp"
#include "model/hostlist.hpp"
#include "view/amount_text.hpp"

namespace switchyard::view {
namespace {

constexpr Overflow kCut = Overflow::Cut;
constexpr Overflow kNodes = Overflow::NodeList;
constexpr Overflow kDuration = Overflow::Duration;

std::string number(std::int64_t value) { return std::to_string(value); }
std::string nothing(const StepRow&) { return "(null)"; }
std::string asked_of(const std::vector<model::GresRequest>& requests) {
    return or_null(model::to_tres_string(requests));
}

std::string run_time(const StepRow& row) {
    const Instant until = row.step.end ? row.step.end->ended : row.view.now;
    const Instant from = model::start_of(row.step).value_or(until);
    return duration_text(
        std::chrono::duration_cast<Seconds>(whole_seconds(until) - whole_seconds(from)));
}

std::string limit_text(const StepRow& row) {
    const auto& limit = row.step.spec.time_limit;
    if (!limit || limit->unlimited) return "UNLIMITED";
    return duration_text(limit->seconds);
}

std::string user_name(const StepRow& row) {
    const model::JobSpec& spec = *row.job.spec;
    return spec.user.empty() ? number(spec.uid) : spec.user;
}

std::string tres_per_node(const StepRow& row) { return asked_of(row.step.spec.gres_per_node); }
std::string tres_per_step(const StepRow& row) { return asked_of(row.step.spec.gpus_per_step); }
std::string tres_bind(const StepRow& row) {
    const std::string& bind = row.step.spec.gpu_bind;
    return bind.empty() ? "(null)" : "gres/gpu:" + bind;
}
std::string reserved_ports(const StepRow& row) { return or_null(row.step.resv_ports); }
// Lowest, highest and governor: no step can ask for any.
std::string frequency(const StepRow& row) {
    return is_without_share(row.step) ? "0-0:0" : "Unknown-Unknown:Unknown";
}

const Field<StepRow> kFields[] = {
    {'b', "tres-per-node", "TRES_PER_JOB", kCut, tres_per_node},
    {'i', "StepID", "STEPID", kCut, [](const StepRow& r) { return step_id_text(r.step, r.job); }},
    {'j', "StepName", "NAME", kCut, [](const StepRow& r) { return r.step.spec.name; }},
    {'l', "TimeLimit", "TIME_LIMIT", kDuration, limit_text},
    {'u', "UserName", "USER", kCut, user_name},
    {'A', "NumTasks", "TASKS", kCut,
     [](const StepRow& r) { return number(extent_of(r.step).tasks); }},
    {'M', "TimeUsed", "TIME", kDuration, run_time},
    {'N', "Nodes", "NODELIST", kNodes,
     [](const StepRow& r) { return step_node_list(r.step, r.job); }},
    {'P', "Partition", "PARTITION", kCut, [](const StepRow& r) { return r.job.partition; }},
    {'S', "StartTime", "START_TIME", kCut,
     [](const StepRow& r) { return moment_text(model::start_of(r.step), r.view, "N/A"); }},
    {'U', "UserID", "UID", kCut, [](const StepRow& r) { return number(r.job.spec->uid); }},
    {0, "gres", "TRES_PER_JOB", kCut, tres_per_node},
    {0, "ArrayJobID", "ARRAY_JOB_ID", kCut,
     [](const StepRow& r) { return number(r.job.array ? r.job.array->array_id.value : 0); }},
    {0, "ArrayTaskID", "ARRAY_TASK_ID", kCut,
     [](const StepRow& r) {
         const bool element = r.job.array && r.job.array->element;
         return element ? number(*r.job.array->element) : std::string("N/A");
     }},
    {0, "JobID", "JOB_ID", kCut, [](const StepRow& r) { return number(r.job.id.value); }},
    {0, "Cluster", "CLUSTER", kCut, [](const StepRow& r) { return or_null(r.view.cluster); }},
    {0, "Container", "CONTAINER", kCut, nothing},
    {0, "ContainerID", "CONTAINERID", kCut, nothing},
    {0, "ContainerType", "CONTAINERTYPE", kCut, nothing},
    {0, "Network", "NETWORK", kCut, [](const StepRow& r) { return or_null(r.job.spec->network); }},
    {0, "NumCPUs", "NUM_CPUS", kCut,
     [](const StepRow& r) { return number(extent_of(r.step).cpus); }},
    {0, "CPUFreq", "CPU_FREQ", kCut, frequency},
    {0, "ResvPorts", "RESERVED_PORTS", kCut, reserved_ports},
    {0, "ResvPort", "RESERVED_PORTS", kCut, reserved_ports},
    {0, "StepState", "STATE", kCut,
     [](const StepRow& r) { return std::string(model::long_name(model::state_of(r.step))); }},
    // Of its files the names are not kept.
    {0, "StdErr", "STDERR", kCut, [](const StepRow&) { return std::string(); }},
    {0, "StdIn", "STDIN", kCut, [](const StepRow&) { return std::string(); }},
    {0, "StdOut", "STDOUT", kCut, [](const StepRow&) { return std::string(); }},
    {0, "cpus-per-tres", "CPUS_PER_TRES", kCut, nothing},
    {0, "mem-per-tres", "MEM_PER_TRES", kCut, nothing},
    {0, "tres-bind", "TRES_BIND", kCut, tres_bind},
    {0, "tres-freq", "TRES_FREQ", kCut, nothing},
    {0, "tres-per-job", "TRES_PER_STEP", kCut, tres_per_step},
    {0, "tres-per-step", "TRES_PER_STEP", kCut, tres_per_step},
    {0, "tres-per-socket", "TRES_PER_SOCKET", kCut, nothing},
    {0, "tres-per-task", "TRES_PER_TASK", kCut,
     [](const StepRow& r) { return asked_of(r.step.spec.gpus_per_task); }},
};

}  // namespace

std::span<const Field<StepRow>> step_fields() { return kFields; }

std::string step_id_text(const model::Step& step, const model::Job& job) {
    if (job.het) return raw_step_id(step);
    return model::display_id(job) + "." + model::step_name(step.key.step);
}

std::string raw_step_id(const model::Step& step) {
    return fmt::format("{}.{}", step.key.job.value, model::step_name(step.key.step));
}

bool is_without_share(const model::Step& step) {
    return step.key.step == kBatchStep || step.key.step == kExternStep;
}

std::string step_node_list(const model::Step& step) {
    std::vector<std::string> names;
    for (const model::StepNode& node : step.layout.nodes) names.push_back(node.grant.node);
    return model::compress_hostlist(names);
}

std::string step_tres(const model::Allocation& share) {
    const std::string text = shown_tres(model::format_tres(share));
    std::vector<std::string_view> terms = split(text, ',');
    std::erase_if(terms, [](std::string_view term) { return term.starts_with("billing="); });
    std::ranges::sort(terms);
    return fmt::format("{}", fmt::join(terms, ","));
}

std::string step_node_list(const model::Step& step, const model::Job& job) {
    const model::Allocation* allocation = model::allocation_of(job);
    if (!model::is_pending(step) || allocation == nullptr) return step_node_list(step);
    return model::compress_hostlist(allocation->node_names());
}

StepExtent extent_of(const model::Step& step) {
    StepExtent extent;
    const model::StepSpec& spec = step.spec;
    if (!model::start_of(step)) {
        extent.nodes = spec.nodes_min.value_or(1);
        extent.tasks = spec.tasks.value_or(extent.nodes * spec.tasks_per_node.value_or(1));
        extent.cpus = extent.tasks * spec.cpus_per_task.value_or(1);
        return extent;
    }
    if (!is_without_share(step)) {
        for (const model::StepNode& node : step.layout.nodes) extent.cpus += node.grant.cpus;
    }
    extent.nodes = static_cast<std::uint32_t>(step.layout.nodes.size());
    extent.tasks = step.layout.task_count();
    return extent;
}

std::vector<Column> all_columns(std::span<const Field<StepRow>> fields) {
    std::vector<Column> columns;
    for (const Field<StepRow>& field : fields) {
        if (field.letter == 0) continue;
        Column column;
        column.field = field.letter;
        column.suffix = "|";
        columns.push_back(std::move(column));
    }
    return columns;
}

}  // namespace switchyard::view
