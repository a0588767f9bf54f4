// validate.cpp: what a submission must satisfy. The words are Slurm's, because programs look for
// them.

#include <algorithm>

#include "base/text.hpp"
#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/memory_limits.hpp"
#include "core/cluster/partition_limits.hpp"
#include "core/sched/idle.hpp"

namespace switchyard::core {
namespace {

using model::Reason;
using Per = model::MemoryRequest::Per;

bool contains(const std::vector<std::string>& list, const std::string& value) {
    return std::ranges::find(list, value) != list.end();
}

bool names_gres(const std::vector<std::string>& known,
                const std::vector<model::GresRequest>& requests) {
    return std::ranges::all_of(requests,
                               [&](const auto& request) { return contains(known, request.name); });
}

// More tasks than so many nodes may have.
bool has_tasks_left_over(const JobSpec& spec) {
    const auto nodes = spec.nodes_max ? spec.nodes_max : spec.nodes_min;
    return spec.tasks && spec.tasks_per_node && nodes &&
           std::uint64_t{*nodes} * *spec.tasks_per_node < *spec.tasks;
}

// Even if it began as soon as it may.
bool meets_deadline(const JobSpec& spec, Instant now) {
    const Instant begin = std::max(now, spec.begin.value_or(now));
    if (*spec.deadline <= begin) return false;
    const auto& least = spec.time_min ? spec.time_min : spec.time_limit;
    return !least || least->unlimited || begin + least->seconds <= *spec.deadline;
}

// A card is given out whole, or in shares of one kind.
bool mixes_sharing(const JobSpec& spec) {
    bool shard = false, mps = false;
    bool whole =
        !spec.gpus_per_job.empty() || !spec.gpus_per_task.empty() || !spec.gpus_per_socket.empty();
    for (const model::GresRequest& request : spec.gres_per_node) {
        whole |= request.name == "gpu";
        shard |= request.name == "shard";
        mps |= request.name == "mps";
    }
    return whole + shard + mps > 1;
}

std::uint64_t sum_of(const std::vector<model::GresRequest>& requests) {
    std::uint64_t total = 0;
    for (const model::GresRequest& request : requests) {
        if (request.name == "gpu") total += request.count;
    }
    return total;
}

// --gpus together with a count per node or per task: all of them must mean the same number.
bool gpu_counts_agree(const JobSpec& spec) {
    const std::uint64_t job = sum_of(spec.gpus_per_job), task = sum_of(spec.gpus_per_task);
    const std::uint64_t node = sum_of(spec.gres_per_node);
    if (job > 0 && task > 0 && (spec.tasks ? job != task * *spec.tasks : job % task != 0))
        return false;
    if (job > 0 && node > 0) {
        const std::uint64_t nodes = spec.nodes_min.value_or(0);
        if (nodes > 0 ? job != node * nodes : job % node != 0) return false;
    }
    return task == 0 || node == 0 || node >= task;
}

}  // namespace

// Fills in what the user left to the site.
Status Cluster::Impl::complete_spec(JobSpec& spec, std::vector<std::string>& notes) const {
    // That of the first of its reservations that has one.
    for (const std::string_view name : split(spec.reservation, ',')) {
        const model::Reservation* found = calendar_.find(std::string(name));
        if (!spec.partitions.empty() || found == nullptr) continue;
        if (!found->partition.empty()) spec.partitions = {found->partition};
    }
    if (spec.partitions.empty()) {
        const auto found = std::ranges::find_if(partitions_, &model::Partition::is_default);
        if (found == partitions_.end()) return fail(Errc::InvalidPartition);
        spec.partitions = {found->name};
    }
    for (const std::string& name : spec.partitions) {
        if (partition_index(name)) continue;
        notes.push_back("invalid partition specified: " + name);
        return fail(Errc::InvalidPartition);
    }
    const model::Partition& partition = partitions_[*partition_index(spec.partitions.front())];
    if (!spec.time_limit) {
        spec.time_limit = partition.default_time ? *partition.default_time : partition.max_time;
    }
    if (spec.memory.per == Per::Unset) {
        const auto choose = [&](Per per, const std::optional<model::MiB>& amount) {
            if (spec.memory.per != Per::Unset || !amount || amount->value == 0) return;
            spec.memory = {per, *amount};
        };
        choose(Per::Cpu, partition.def_mem_per_cpu);
        choose(Per::Node, partition.def_mem_per_node);
        choose(Per::Cpu, settings_.def_mem_per_cpu);
        choose(Per::Node, settings_.def_mem_per_node);
    }
    if (!spec.requeue) spec.requeue = settings_.requeue_by_default;
    if (spec.name.empty())
        spec.name = spec.kind == model::JobKind::Batch ? "sbatch" : "interactive";
    return {};
}

Status Cluster::Impl::check_dependency(const JobSpec& spec) const {
    for (const model::DependencyTerm& term : spec.dependency.terms) {
        if (term.kind == model::DependencyKind::Singleton) continue;
        if (dependencies_.targets_of(term).empty()) return fail(Errc::DependencyProblem);
    }
    return {};
}

namespace {

Status check_access(const JobSpec& spec, const model::Partition& partition,
                    const model::Rights& rights, const Settings& settings) {
    const bool root = spec.uid == 0;
    if (partition.root_only && !root) return fail(Errc::AccessDenied);
    if (partition.require_reservation && spec.reservation.empty()) return fail(Errc::AccessDenied);
    if (root && (settings.disable_root_jobs || partition.disable_root_jobs))
        return fail(Errc::AccessDenied);
    if (!root && !rights.may_use_partition(partition.allow_groups, spec.group)) {
        return fail(Errc::AccessDenied, "User's group not permitted to use this partition");
    }
    if (!spec.account.empty()) {
        const bool allowed = partition.allow_accounts.empty() ||
                             contains(partition.allow_accounts, "ALL") ||
                             contains(partition.allow_accounts, spec.account);
        if (!allowed || contains(partition.deny_accounts, spec.account))
            return fail(Errc::InvalidAccount);
    }
    return {};
}

// What one node, any of the partition, could hold of the job. `part` leaves out everything else.
bool some_node_holds(const sched::NodePool& pool, PartitionIndex partition, sched::Shape part) {
    if (sched::has_undescribed(pool, partition)) return true;
    part.nodes_min = 1;
    part.required.clear();
    part.spread = true;
    if (!part.tasks_by_node) part.tasks = 1;
    part.contiguous = false;
    part.gpus_per_job.clear();
    return sched::any_is_of_use(pool, partition, sched::make_demand(std::move(part), pool));
}

// What no node holds even one of, named as Slurm names it.
Status name_shortage(const sched::NodePool& pool, PartitionIndex partition,
                     const sched::Shape& shape, std::vector<std::string>& notes) {
    sched::Shape part = shape;
    part.memory_per = Per::Unset;
    part.gres_per_node.clear();
    part.gres_per_task.clear();
    part.gres_per_socket.clear();
    part.cpus_per_gpu = 0;
    if (!some_node_holds(pool, partition, part)) {
        notes.push_back("CPU count per node can not be satisfied");
        return fail(Errc::NodeConfigUnavailable);
    }
    part.memory_per = shape.memory_per == Per::Gpu ? Per::Unset : shape.memory_per;
    if (!some_node_holds(pool, partition, part))
        notes.push_back("Memory specification can not be satisfied");
    return fail(Errc::NodeConfigUnavailable);
}

Status check_one_node(const sched::NodePool& pool, PartitionIndex partition,
                      const sched::Shape& shape, std::vector<std::string>& notes) {
    if (!some_node_holds(pool, partition, shape))
        return name_shortage(pool, partition, shape, notes);
    if (sched::has_undescribed(pool, partition)) return {};
    // So many cards, over however many nodes it takes, the partition must have.
    for (const sched::GresNeed& need : shape.gpus_per_job) {
        if (sched::total_of(pool, partition, need) < need.count)
            return fail(Errc::NodeConfigUnavailable);
    }
    return {};
}

}  // namespace

// Whether it can be read, and some node has each feature in it.
bool Cluster::Impl::is_known_constraint(const std::string& text) const {
    if (text.empty()) return true;
    const auto constraint = model::Constraint::parse(text);
    if (!constraint) return false;
    const std::vector<std::string> names = constraint->names();
    return std::ranges::all_of(names, [&](const std::string& name) {
        return std::ranges::any_of(
            nodes_, [&](const model::Node& node) { return contains(node.config.features, name); });
    });
}

Status Cluster::Impl::validate(const JobSpec& spec, const Caller& caller,
                               std::vector<std::string>& notes) const {
    for (const auto* list : {&spec.required_nodes, &spec.excluded_nodes}) {
        for (const std::string& name : *list) {
            if (!node_index(name)) return fail(Errc::InvalidNodeName);
        }
    }
    if (!is_known_constraint(spec.constraint)) return fail(Errc::InvalidFeature);
    if (!is_known_constraint(spec.prefer)) return fail(Errc::InvalidPreference);
    for (const auto* list :
         {&spec.gres_per_node, &spec.gpus_per_job, &spec.gpus_per_task, &spec.gpus_per_socket}) {
        if (!names_gres(settings_.gres_types, *list)) return fail(Errc::InvalidGres);
    }
    if (spec.gpus_per_job.size() > sched::kGpuKindsMax || mixes_sharing(spec) ||
        !gpu_counts_agree(spec)) {
        return fail(Errc::InvalidGres);
    }
    if (spec.array) {
        if (spec.array->elements.empty() ||
            spec.array->elements.back() >= settings_.max_array_size ||
            spec.kind != model::JobKind::Batch) {
            return fail(Errc::InvalidArray);
        }
    }
    if (spec.nodes_min && spec.nodes_max && *spec.nodes_min > *spec.nodes_max)
        return fail(Errc::InvalidNodeCount);
    if (has_tasks_left_over(spec)) return fail(Errc::NodeConfigUnavailable);
    SY_CHECK(check_dependency(spec));
    SY_CHECK(calendar_.check(spec, caller));
    SY_CHECK(licenses_.check(spec));
    if (spec.deadline && !meets_deadline(spec, now_)) {
        notes.push_back("Incorrect deadline: the job cannot end before it");
        return fail(Errc::InvalidTimeLimit);
    }
    // The job needs one partition that could take it; the first problem is the one reported.
    std::optional<Error> problem;
    for (const std::string& name : spec.partitions) {
        const PartitionIndex index = *partition_index(name);
        const model::Partition& partition = partitions_[index];
        const auto check = [&]() -> Status {
            SY_CHECK(check_access(spec, partition, rights_of(caller), settings_));
            SY_CHECK(
                check_one_node(pool_, index, sched::shape_of(spec, partition, settings_), notes));
            const auto reason = limit_problem(world_, spec, partition);
            if (!reason || !settings_.enforce_partition_limits) return {};
            if (*reason == Reason::PartitionTimeLimit) return fail(Errc::InvalidTimeLimit);
            if (*reason == Reason::MaxMemPerLimit) return fail(Errc::MemoryNotSatisfiable);
            const sched::Shape shape = sched::shape_of(spec, partition, settings_);
            const bool nodes = shape.nodes_min > pool_.order(index).size() ||
                               (partition.max_nodes && shape.nodes_min > *partition.max_nodes);
            return fail(nodes ? Errc::InvalidNodeCount : Errc::TooManyCpus);
        };
        const Status status = check();
        if (status) {
            notes.clear();
            return {};
        }
        if (!problem) problem = status.error();
    }
    return Failure{*problem};
}

}  // namespace switchyard::core
