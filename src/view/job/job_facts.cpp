#include "view/job/job_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/text.hpp"
#include "model/hostlist.hpp"
#include "model/licenses.hpp"
#include "model/output_pattern.hpp"
#include "view/job/cards_asked.hpp"

namespace switchyard::view {
namespace {

using model::Job;

const model::Pending* pending_of(const Job& job) { return std::get_if<model::Pending>(&job.phase); }
const model::Completing* completing_of(const Job& job) {
    return std::get_if<model::Completing>(&job.phase);
}
bool will_be_queued_again(const Job& job) {
    const auto* completing = completing_of(job);
    return completing != nullptr && completing->next != model::Completing::Next::End;
}

std::uint32_t nodes_needed(const Job& job) {
    const model::JobSpec& spec = *job.spec;
    std::uint32_t nodes = spec.nodes_min.value_or(1);
    if (!spec.nodes_min && spec.tasks && spec.tasks_per_node.value_or(0) > 0) {
        nodes = (*spec.tasks + *spec.tasks_per_node - 1) / *spec.tasks_per_node;
    } else if (!spec.nodes_min) {
        nodes = nodes_by_cards(spec).value_or(nodes);
    }
    return std::max({nodes, 1U, static_cast<std::uint32_t>(spec.required_nodes.size())});
}

// Nodes of the allocation or of the request, also of a job that is over.
std::uint32_t nodes_of_run(const Job& job) {
    const model::Allocation* allocation = model::allocation_of(job);
    if (allocation != nullptr) return static_cast<std::uint32_t>(allocation->nodes.size());
    return nodes_needed(job);
}

model::MiB memory_needed(const Job& job, std::uint64_t cpus, std::uint64_t nodes,
                         std::uint64_t gpus) {
    const model::MemoryRequest& memory = job.spec->memory;
    switch (memory.per) {
        case model::MemoryRequest::Per::Unset:
            return {};
        case model::MemoryRequest::Per::Node:
            return memory.amount * nodes;
        case model::MemoryRequest::Per::Cpu:
            return memory.amount * cpus;
        case model::MemoryRequest::Per::Gpu:
            return memory.amount * gpus;
    }
    return {};
}

std::string absolute(const std::string& work_dir, std::string path) {
    if (path.empty() || path.starts_with('/') || work_dir.empty()) return path;
    return work_dir + "/" + path;
}

std::string expanded(const Job& job, const std::string& pattern) {
    model::PatternFacts facts;
    facts.job = job.id;
    facts.job_name = job.spec->name;
    facts.user = job.spec->user;
    facts.node = batch_host(job);
    if (job.array) {
        facts.array_job = job.array->array_id;
        facts.element = job.array->element;
    }
    return model::expand_pattern(absolute(job.spec->work_dir, pattern), facts);
}

// Of one that waits for other jobs: no sooner than it was told to.
std::optional<Instant> begin_behind_others(const Job& job, const model::Pending& pending) {
    return pending.reason == model::Reason::Dependency ? job.spec->begin : std::nullopt;
}

}  // namespace

std::uint32_t node_count(const Job& job) {
    if (const auto* completing = completing_of(job); completing != nullptr) {
        if (!completing->dirty_nodes.empty()) {
            return static_cast<std::uint32_t>(completing->dirty_nodes.size());
        }
    }
    return nodes_of_run(job);
}

std::uint32_t task_count(const Job& job) {
    const model::JobSpec& spec = *job.spec;
    if (spec.tasks) return *spec.tasks;
    if (!spec.tasks_per_node) {
        if (const auto tasks = tasks_by_cards(spec, nodes_of_run(job))) return *tasks;
    }
    return nodes_of_run(job) * std::max(1U, spec.tasks_per_node.value_or(1));
}

std::uint32_t cpus_per_node_min(const Job& job) {
    const model::JobSpec& spec = *job.spec;
    const std::uint32_t per_task = spec.cpus_per_task.value_or(1);
    const std::uint32_t tasks = std::max(1U, spec.tasks_per_node.value_or(1));
    return std::max(per_task * tasks, spec.cpus_per_node_min.value_or(1));
}

namespace {

std::uint64_t gpus_asked(const Job& job, std::uint64_t nodes) {
    std::uint64_t gpus = 0;
    for (const model::GresGrant& grant : gres_asked(*job.spec, nodes, task_count(job))) {
        if (grant.name == "gpu") gpus += grant.count;
    }
    return gpus;
}

std::uint64_t cpus_asked(const Job& job, std::uint64_t nodes) {
    const std::uint64_t by_tasks =
        std::uint64_t{task_count(job)} * job.spec->cpus_per_task.value_or(1);
    const std::uint64_t by_nodes = nodes * cpus_per_node_min(job);
    const std::uint32_t per_gpu = job.spec->cpus_per_gpu.value_or(0);
    return std::max({by_tasks, by_nodes, per_gpu == 0 ? 0 : per_gpu * gpus_asked(job, nodes)});
}

}  // namespace

std::uint32_t cpu_count(const Job& job) {
    if (const auto* allocation = model::allocation_of(job); allocation != nullptr) {
        return allocation->cpus();
    }
    return static_cast<std::uint32_t>(cpus_asked(job, nodes_needed(job)));
}

std::string node_list(const Job& job) {
    if (pending_of(job) != nullptr) return {};
    if (const auto* completing = completing_of(job); completing != nullptr) {
        if (!completing->dirty_nodes.empty()) {
            return model::compress_hostlist(completing->dirty_nodes);
        }
    }
    const model::Allocation* allocation = model::allocation_of(job);
    return allocation != nullptr ? model::compress_hostlist(allocation->node_names())
                                 : std::string();
}

std::string batch_host(const Job& job) {
    const model::Allocation* allocation = model::allocation_of(job);
    if (pending_of(job) != nullptr || allocation == nullptr || allocation->nodes.empty()) return {};
    return allocation->nodes.front().node;
}

std::string failed_node(const Job& job) {
    const model::Outcome* outcome = model::outcome_of(job);
    const model::Allocation* allocation = model::allocation_of(job);
    const bool failed = outcome != nullptr && outcome->reason == model::Reason::NodeFail;
    if (!failed || allocation == nullptr || allocation->nodes.size() != 1) return {};
    return allocation->nodes.front().node;
}

std::string component_ids(const model::HetPlace& place) {
    const std::uint32_t first = place.leader.value;
    return fmt::format("{}-{}", first, first + place.size - 1);
}

std::string partition_text(const Job& job) {
    CellBuffer room;
    return std::string(partition_text(job, room));
}

std::string_view partition_text(const Job& job, CellBuffer& room) {
    if (pending_of(job) != nullptr && job.spec->partitions.size() > 1) {
        return room.keep(join(job.spec->partitions, ","));
    }
    return job.partition;
}

std::string reason_text(const Job& job) {
    CellBuffer room;
    return std::string(reason_text(job, room));
}

std::string_view reason_text(const Job& job, CellBuffer& room) {
    const model::Reason reason = model::reason_of(job);
    const std::string_view text = model::reason_text(reason);
    // A detail that begins with the word is Slurm's longer form of it; any other is for scontrol
    // -d.
    const auto* pending = pending_of(job);
    if (pending != nullptr && pending->detail.starts_with(text)) return pending->detail;
    // A job that no node could start says so in words.
    if (pending != nullptr && reason == model::Reason::JobLaunchFailure &&
        !pending->detail.empty()) {
        return pending->detail;
    }
    const model::Outcome* outcome = model::outcome_of(job);
    if (reason == model::Reason::RaisedSignal && outcome != nullptr && outcome->exit.signal != 0) {
        const int signal = outcome->exit.signal;
        return room.keep(fmt::format("{}:{}({})", text, signal, ::strsignal(signal)));
    }
    if (reason == model::Reason::ReqNodeNotAvail)
        return room.keep(fmt::format("{}, May be reserved for other job", text));
    return text;
}

bool shows_reason(const Job& job) {
    switch (model::state_of(job)) {
        case model::JobState::Pending:
        case model::JobState::Failed:
        case model::JobState::Timeout:
        case model::JobState::OutOfMemory:
        case model::JobState::Deadline:
            return true;
        default:
            return false;
    }
}

std::optional<model::TimeLimit> time_limit(const Job& job) { return job.spec->time_limit; }

std::optional<Instant> shown_start(const Job& job) {
    if (const auto* pending = pending_of(job); pending != nullptr) {
        if (pending->planned_start) return pending->planned_start;
        if (const auto begin = begin_behind_others(job, *pending)) return begin;
        const bool waits = pending->reason == model::Reason::BeginTime ||
                           pending->reason == model::Reason::WaitingForRequeue;
        if (waits && pending->eligible_at != Instant{}) return pending->eligible_at;
        return std::nullopt;
    }
    if (const auto start = model::start_of(job); start) return start;
    return model::end_of(job);  // It never ran: Slurm shows the moment it was cancelled.
}

std::uint32_t shown_priority(const Job& job) {
    return std::holds_alternative<model::Suspended>(job.phase) ? 0 : job.priority;
}

Seconds time_used(const Job& job, Instant now) {
    return will_be_queued_again(job) ? Seconds{0} : model::run_time(job, now);
}

std::optional<Instant> shown_end(const Job& job) {
    if (will_be_queued_again(job)) return std::nullopt;
    if (const auto end = model::end_of(job); end) return end;
    const auto limit = time_limit(job);
    if (const auto* pending = pending_of(job); pending != nullptr) {
        const auto start =
            pending->planned_start ? pending->planned_start : begin_behind_others(job, *pending);
        if (!start || !limit || limit->unlimited) return std::nullopt;
        return *start + limit->seconds;
    }
    const model::Running* run = model::run_of(job);
    return run != nullptr ? run->ends_by : std::nullopt;
}

std::optional<Instant> eligible_time(const Job& job) {
    if (const auto* pending = pending_of(job); pending != nullptr) {
        if (const auto begin = begin_behind_others(job, *pending)) return begin;
        const bool waits_for_more = pending->hold != model::Hold::None ||
                                    pending->reason == model::Reason::Dependency ||
                                    pending->reason == model::Reason::DependencyNeverSatisfied ||
                                    pending->reason == model::Reason::JobArrayTaskLimit;
        if (waits_for_more) return std::nullopt;
        if (pending->eligible_at != Instant{}) return std::max(pending->eligible_at, job.submitted);
        return job.submitted;
    }
    if (job.eligible) return job.eligible;
    return std::max(job.submitted, job.spec->begin.value_or(job.submitted));
}

std::optional<Instant> last_evaluated(const Job& job) {
    return job.last_evaluated ? job.last_evaluated : job.submitted;
}

std::optional<Instant> accrue_time(const Job& job) {
    if (const auto* pending = pending_of(job); pending != nullptr) {
        if (const auto begin = begin_behind_others(job, *pending)) return begin;
        const bool waits = pending->hold != model::Hold::None ||
                           pending->reason == model::Reason::BeginTime ||
                           pending->reason == model::Reason::Dependency ||
                           pending->reason == model::Reason::DependencyNeverSatisfied;
        if (waits) return std::nullopt;
        return job.submitted;
    }
    return eligible_time(job);
}

namespace {

// "cpu=1,...,license/fluent=2". What is asked for in one of several ways is not known before it is
// given.
std::string with_licenses(std::string tres, const std::string& licenses) {
    const auto list = model::parse_licenses(licenses);
    if (!list) return tres;
    for (const model::License& license : *list)
        tres += fmt::format(",license/{}={}", license.name, license.count);
    return tres;
}

}  // namespace

std::string requested_tres(const Job& job) {
    const std::uint64_t nodes = nodes_of_run(job);
    // What was asked for, not what it holds: an exclusive job holds more.
    const std::uint64_t cpus = cpus_asked(job, nodes);
    const std::vector<model::GresGrant> gres = gres_asked(*job.spec, nodes, task_count(job));
    const model::MiB memory = memory_needed(job, cpus, nodes, gpus_asked(job, nodes));
    return with_licenses(model::format_tres(cpus, memory, nodes, gres), job.spec->licenses);
}

std::string allocated_tres(const Job& job) {
    const model::Allocation* allocation = model::allocation_of(job);
    if (pending_of(job) != nullptr || allocation == nullptr) return {};
    return with_licenses(model::format_tres(*allocation), licenses_held(job));
}

std::string reservation_of(const Job& job) {
    const model::Running* run = model::run_of(job);
    return run != nullptr && !run->reservation.empty() ? run->reservation : job.spec->reservation;
}

std::string licenses_held(const Job& job) {
    const model::Running* run = model::run_of(job);
    return run != nullptr ? run->licenses : std::string();
}

std::string tres_per_node(const Job& job) { return model::to_tres_string(job.spec->gres_per_node); }

std::string_view over_subscribe_text(const model::JobSpec& spec) {
    return spec.exclusive == model::Exclusive::No && spec.oversubscribe ? "YES" : "NO";
}

std::string_view exclusive_text(model::Exclusive exclusive) {
    switch (exclusive) {
        case model::Exclusive::No:
            return "NO";
        case model::Exclusive::Node:
            return "NODE";
        case model::Exclusive::User:
            return "USER";
        case model::Exclusive::Mcs:
            return "MCS";
        case model::Exclusive::Topo:
            return "TOPO";
    }
    return "NO";
}

BatchFiles batch_file_patterns(const Job& job) {
    const model::JobSpec& spec = *job.spec;
    const std::string default_out = job.array ? "slurm-%A_%a.out" : "slurm-%j.out";
    BatchFiles files;
    files.in = spec.std_in.empty() ? "/dev/null" : absolute(spec.work_dir, spec.std_in);
    files.out = spec.std_out.empty() ? default_out : absolute(spec.work_dir, spec.std_out);
    if (!spec.std_err.empty()) files.err = absolute(spec.work_dir, spec.std_err);
    return files;
}

BatchFiles batch_files(const Job& job) {
    BatchFiles files = batch_file_patterns(job);
    for (std::string* name : {&files.in, &files.out, &files.err}) {
        if (!name->empty()) *name = expanded(job, *name);
    }
    return files;
}

}  // namespace switchyard::view
