// check_values.cpp: see check_values.hpp.

#include "core/cluster/check_values.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/limits.hpp"
#include "core/cluster/check_texts.hpp"
#include "model/nice.hpp"

namespace switchyard::core {
namespace {

constexpr Seconds kLastSecond{253402300799};  // 9999-12-31T23:59:59
constexpr Seconds kLongest{Minutes{0xffffffff}};
constexpr int kSignalMax = 64;
constexpr std::uint32_t kPriorityMax = 0xfffffffe;

using Count = std::optional<std::uint32_t>;

bool is_count(const Count& value) { return !value || *value <= limits::kTasksMax; }

bool is_length(const std::optional<model::TimeLimit>& limit) {
    return !limit || limit->unlimited ||
           (limit->seconds >= Seconds{0} && limit->seconds <= kLongest);
}

bool is_date(const std::optional<Instant>& at) { return !at || core::is_date(*at); }

Status no_memory() { return fail(Errc::MemoryNotSatisfiable); }

Status check_gres(const std::vector<model::GresRequest>& list) {
    const bool fine = std::ranges::all_of(list, [](const model::GresRequest& one) {
        return one.count > 0 && one.count <= kGresCountMax;
    });
    if (!fine || list.size() > kGresTermsMax) return fail(Errc::InvalidGres);
    return {};
}

Status check_distribution(const model::Distribution& distribution) {
    const bool plane = distribution.nodes == model::Distribution::Nodes::Plane;
    if (plane && (distribution.plane_size == 0 || distribution.plane_size > limits::kTasksMax))
        return fail(Errc::TaskDistribution);
    return {};
}

Status check_dependency_size(const model::Dependency& dependency) {
    if (dependency.terms.size() > kDependencyTermsMax)
        return fail(Errc::DependencyProblem,
                    fmt::format("a dependency on {} jobs, the limit is {}", dependency.terms.size(),
                                kDependencyTermsMax));
    for (const model::DependencyTerm& term : dependency.terms) {
        if (term.delay < Minutes{0} || term.delay > kLongest) return fail(Errc::DependencyProblem);
    }
    return {};
}

Status check_signal(const model::WarnSignal& warn) {
    if (warn.signal < 0 || warn.signal > kSignalMax || warn.before < Seconds{0} ||
        warn.before > kLongest)
        return fail(Errc::InvalidArgument,
                    fmt::format("Invalid signal: its number is at most {}", kSignalMax));
    return {};
}

Status check_nice(std::int32_t nice) {
    if (nice > model::kNiceMax || nice < -model::kNiceMax)
        return fail(
            Errc::InvalidArgument,
            fmt::format("Nice value out of range ({}): the limit is {}", nice, model::kNiceMax));
    return {};
}

// Together with what it is multiplied by.
Status check_products(const model::JobSpec& spec) {
    const std::uint64_t tasks = spec.tasks.value_or(1), nodes = spec.nodes_min.value_or(1);
    const std::uint64_t on_node = spec.tasks_per_node.value_or(1);
    if (nodes * on_node > limits::kTasksMax) return fail(Errc::InvalidTaskCount);
    if (std::max(tasks, on_node) * spec.cpus_per_task.value_or(1) > INT32_MAX)
        return fail(Errc::TooManyCpus);
    std::uint64_t cards = 0;
    for (const auto* list : {&spec.gres_per_node, &spec.gpus_per_job}) {
        for (const model::GresRequest& one : *list) cards += one.count;
    }
    if (cards * spec.tasks_per_gpu.value_or(0) > limits::kTasksMax)
        return fail(Errc::InvalidTaskCount);
    if (cards * spec.cpus_per_gpu.value_or(0) > INT32_MAX) return fail(Errc::TooManyCpus);
    return {};
}

Status check_counts(const model::JobSpec& spec) {
    for (const Count& nodes : {spec.nodes_min, spec.nodes_max}) {
        if (nodes && *nodes > limits::kNodesMax) return fail(Errc::InvalidNodeCount);
    }
    for (const Count& tasks : {spec.tasks, spec.tasks_per_node, spec.tasks_per_socket,
                               spec.tasks_per_core, spec.tasks_per_gpu}) {
        if (!is_count(tasks)) return fail(Errc::InvalidTaskCount);
    }
    for (const Count& cpus :
         {spec.cpus_per_task, spec.sockets_per_node, spec.cores_per_socket, spec.threads_per_core,
          spec.cpus_per_node_min, spec.core_spec, spec.cpus_per_gpu}) {
        if (!is_count(cpus)) return fail(Errc::InvalidCpuCount);
    }
    for (const auto* list :
         {&spec.gres_per_node, &spec.gpus_per_job, &spec.gpus_per_socket, &spec.gpus_per_task})
        SY_CHECK(check_gres(*list));
    return check_products(spec);
}

// Terms for the same thing are added up, as in what people write.
void add_up(std::vector<model::GresRequest>& list) {
    std::vector<model::GresRequest> sums;
    for (const model::GresRequest& one : list) {
        const auto same = std::ranges::find_if(sums, [&](const model::GresRequest& known) {
            return known.name == one.name && known.type == one.type;
        });
        if (same == sums.end()) {
            sums.push_back(one);
        } else if (same->count <= kGresCountMax && one.count <= kGresCountMax) {
            same->count += one.count;
        } else {
            same->count = kGresCountMax + 1;
        }
        if (sums.size() > kGresTermsMax) break;
    }
    list = std::move(sums);
}

}  // namespace

bool is_date(Instant at) { return at >= Instant{Seconds{0}} && at <= Instant{kLastSecond}; }

void drop_repeated(std::vector<std::string>& names) {
    std::set<std::string> known;
    std::erase_if(names, [&](const std::string& name) { return !known.insert(name).second; });
}

void tidy(model::JobSpec& spec, bool may_raise_priority) {
    for (auto* names : {&spec.partitions, &spec.required_nodes, &spec.excluded_nodes})
        drop_repeated(*names);
    for (auto* list :
         {&spec.gres_per_node, &spec.gpus_per_job, &spec.gpus_per_socket, &spec.gpus_per_task})
        add_up(*list);
    cut_submit_line(spec.submit_line);
    if (may_raise_priority) return;
    spec.nice = std::max(spec.nice, 0);
    if (spec.priority && *spec.priority != 0) spec.priority.reset();
}

void tidy(model::StepSpec& spec) {
    drop_repeated(spec.excluded_nodes);
    // There each name is a task's.
    if (spec.distribution.nodes != model::Distribution::Nodes::Arbitrary)
        drop_repeated(spec.required_nodes);
    for (auto* list : {&spec.gres_per_node, &spec.gpus_per_step, &spec.gpus_per_task})
        add_up(*list);
    cut_submit_line(spec.submit_line);
}

Status check_values(const model::JobSpec& spec) {
    SY_CHECK(check_counts(spec));
    if (spec.memory.amount.value > kMemoryMiBMax) return no_memory();
    if (spec.tmp_disk.value > kMemoryMiBMax) return fail(Errc::NodeConfigUnavailable);
    if (!is_length(spec.time_limit)) return fail(Errc::InvalidTimeLimit);
    if (!is_length(spec.time_min)) return fail(Errc::InvalidTimeMin);
    if (!is_date(spec.begin) || !is_date(spec.deadline)) return fail(Errc::InvalidTime);
    if (spec.priority && *spec.priority > kPriorityMax)
        return fail(Errc::InvalidArgument, fmt::format("a priority is at most {}", kPriorityMax));
    SY_CHECK(check_nice(spec.nice));
    SY_CHECK(check_dependency_size(spec.dependency));
    SY_CHECK(check_distribution(spec.distribution));
    return check_signal(spec.warn_signal);
}

Status check_values(const model::StepSpec& spec) {
    for (const Count& nodes : {spec.nodes_min, spec.nodes_max}) {
        if (nodes && *nodes > limits::kNodesMax) return fail(Errc::InvalidNodeCount);
    }
    for (const Count& tasks :
         {spec.tasks, spec.tasks_per_node, spec.tasks_per_gpu, spec.relative}) {
        if (!is_count(tasks)) return fail(Errc::InvalidTaskCount);
    }
    if (spec.tasks == 0u || spec.tasks_per_node == 0u) return fail(Errc::InvalidTaskCount);
    if (!is_count(spec.cpus_per_task)) return fail(Errc::InvalidCpuCount);
    const std::uint64_t tasks = spec.tasks.value_or(1);
    if (tasks * spec.cpus_per_task.value_or(1) > INT32_MAX) return fail(Errc::TooManyCpus);
    const std::uint64_t nodes = spec.nodes_min.value_or(1);
    if (nodes * spec.tasks_per_node.value_or(1) > limits::kTasksMax)
        return fail(Errc::InvalidTaskCount);
    for (const auto* list : {&spec.gres_per_node, &spec.gpus_per_step, &spec.gpus_per_task})
        SY_CHECK(check_gres(*list));
    if (spec.memory.amount.value > kMemoryMiBMax) return no_memory();
    if (!is_length(spec.time_limit)) return fail(Errc::InvalidTimeLimit);
    if (spec.resv_ports && *spec.resv_ports > UINT16_MAX)
        return fail(Errc::InvalidArgument, "there are not so many ports");
    return check_distribution(spec.distribution);
}

Status check_values(const model::JobUpdate& update) {
    for (const auto& at : {update.begin, update.deadline, update.end}) {
        if (!is_date(at)) return fail(Errc::InvalidTime);
    }
    if (update.time_limit && !is_length(update.time_limit->limit))
        return fail(Errc::InvalidTimeLimit);
    if (!is_length(update.time_min)) return fail(Errc::InvalidTimeMin);
    if (update.priority && *update.priority > kPriorityMax)
        return fail(Errc::InvalidArgument, fmt::format("a priority is at most {}", kPriorityMax));
    if (update.cpus && *update.cpus > INT32_MAX) return fail(Errc::InvalidCpuCount);
    return update.nice ? check_nice(*update.nice) : Status();
}

Status check_values(const model::NodeUpdate& update) {
    if (update.resume_after && *update.resume_after > kLongest) return fail(Errc::InvalidTime);
    return {};
}

Status check_values(const model::ReservationUpdate& update) {
    if (!is_date(update.start) || !is_date(update.end)) return fail(Errc::InvalidTime);
    for (const auto& length : {update.duration, update.max_start_delay, update.flags.purge_after}) {
        if (length && (*length < Seconds{0} || *length > kLongest)) return fail(Errc::InvalidTime);
    }
    if (update.start && update.duration && !core::is_date(*update.start + *update.duration))
        return fail(Errc::InvalidTime);
    if (update.node_count && *update.node_count > limits::kNodesMax)
        return fail(Errc::InvalidNodeCount);
    return {};
}

Status check_values(const model::Trigger& trigger) {
    if (trigger.offset > kLongest || trigger.offset < -kLongest) return fail(Errc::InvalidTime);
    return {};
}

}  // namespace switchyard::core
