// shape.cpp: from the options of a job to its shape. Pure.

#include "core/sched/shape.hpp"

#include <algorithm>

namespace switchyard::core::sched {
namespace {

std::vector<GresNeed> needs_of(const std::vector<model::GresRequest>& requests) {
    std::vector<GresNeed> needs;
    for (const model::GresRequest& request : requests) {
        needs.push_back({request.name, request.type, request.count});
    }
    std::ranges::sort(needs);
    return needs;
}

std::uint64_t sum(const std::vector<model::GresRequest>& requests) {
    std::uint64_t total = 0;
    for (const model::GresRequest& request : requests) total += request.count;
    return total;
}

std::uint64_t gpus_on_node(const model::JobSpec& spec) {
    std::uint64_t total = 0;
    for (const model::GresRequest& request : spec.gres_per_node) {
        if (request.name == "gpu") total += request.count;
    }
    return total;
}

void set_nodes(Shape& shape, const model::JobSpec& spec, const model::Partition& partition) {
    const auto required = static_cast<std::uint32_t>(spec.required_nodes.size());
    shape.spread = spec.nodes_min.has_value() || spec.nodes_max.has_value();
    shape.nodes_min = std::max({1u, spec.nodes_min.value_or(1), required});
    shape.nodes_max =
        spec.nodes_max ? *spec.nodes_max : (shape.spread ? shape.nodes_min : kNoLimit);
    if (partition.max_nodes) shape.nodes_max = std::min(shape.nodes_max, *partition.max_nodes);
    shape.nodes_max = std::max(shape.nodes_max, shape.nodes_min);
    shape.required = spec.required_nodes;
    shape.excluded = spec.excluded_nodes;
    std::ranges::sort(shape.required);
    std::ranges::sort(shape.excluded);
    shape.constraint = spec.constraint;
    shape.prefer = spec.prefer;
    shape.fewest_nodes = spec.use_min_nodes;
    shape.contiguous = spec.contiguous;
    shape.tmp_disk = spec.tmp_disk.value;
}

void set_tasks(Shape& shape, const model::JobSpec& spec) {
    const std::uint64_t gpus = sum(spec.gpus_per_job);
    if (spec.tasks) {
        shape.tasks = *spec.tasks;
    } else if (spec.tasks_per_node) {
        shape.tasks = *spec.tasks_per_node;
        shape.tasks_by_node = true;
    } else if (spec.tasks_per_gpu && gpus > 0) {
        shape.tasks = static_cast<std::uint32_t>(*spec.tasks_per_gpu * gpus);
    } else if (spec.tasks_per_gpu && gpus_on_node(spec) > 0) {
        shape.tasks = static_cast<std::uint32_t>(*spec.tasks_per_gpu * gpus_on_node(spec));
        shape.tasks_by_node = true;
    } else if (gpus > 0 && sum(spec.gpus_per_task) > 0) {
        shape.tasks = static_cast<std::uint32_t>(gpus / sum(spec.gpus_per_task));
    } else {
        shape.tasks = 1;
        shape.tasks_open = true;
        shape.tasks_by_node = shape.spread || shape.nodes_min > 1;
    }
    shape.tasks = std::max(1u, shape.tasks);
    if (spec.tasks && !shape.tasks_by_node) {
        // More nodes than tasks make no sense: every node gets at least one.
        if (shape.nodes_max != kNoLimit && shape.nodes_max > shape.nodes_min) {
            shape.nodes_max = std::max(shape.nodes_min, std::min(shape.nodes_max, shape.tasks));
        }
    }
    if (spec.tasks_per_node) shape.tasks_per_node_max = std::max(1u, *spec.tasks_per_node);
    shape.tasks_per_core = spec.tasks_per_core.value_or(0);
    shape.tasks_per_socket = spec.tasks_per_socket.value_or(0);
}

void set_gres(Shape& shape, const model::JobSpec& spec) {
    shape.gres_per_node = needs_of(spec.gres_per_node);
    shape.gpus_per_job = needs_of(spec.gpus_per_job);
    shape.gres_per_task = needs_of(spec.gpus_per_task);
    shape.gres_per_socket = needs_of(spec.gpus_per_socket);
    shape.cpus_per_gpu = spec.cpus_per_gpu.value_or(0);
    const std::uint64_t per_node = gpus_on_node(spec), per_task = sum(spec.gpus_per_task);
    const std::uint64_t per_job = sum(spec.gpus_per_job);
    // Several ways of asking describe the same cards: one of them counts, the others follow.
    if (per_task > 0 && per_node > 0) {
        shape.gres_per_task.clear();
        const auto tasks =
            static_cast<std::uint32_t>(std::max<std::uint64_t>(1, per_node / per_task));
        shape.tasks_per_node_max = std::min(shape.tasks_per_node_max, tasks);
    }
    if (per_job > 0 && per_node > 0 && !spec.nodes_min && !spec.nodes_max) {
        shape.spread = true;
        shape.nodes_min = shape.nodes_max =
            static_cast<std::uint32_t>(std::max<std::uint64_t>(1, per_job / per_node));
    }
    if (per_job > 0 && (per_node > 0 || per_task > 0)) shape.gpus_per_job.clear();
    if (spec.tasks && spec.tasks_per_gpu && per_job == 0 && per_node == 0 && per_task == 0) {
        const std::uint64_t each = std::max(1u, *spec.tasks_per_gpu);
        shape.gpus_per_job = {{"gpu", "", (*spec.tasks + each - 1) / each}};
    }
}

void set_sharing(Shape& shape, const model::JobSpec& spec, const model::Partition& partition,
                 const Selection& selection) {
    using OverSubscribe = model::Partition::OverSubscribe;
    shape.whole_nodes = takes_whole_nodes(spec, partition, selection);
    const bool forced = partition.over_subscribe == OverSubscribe::Force;
    const bool asked = partition.over_subscribe == OverSubscribe::Yes && spec.oversubscribe;
    if (!shape.whole_nodes && (forced || asked)) {
        shape.share = std::max(1u, partition.over_subscribe_count);
    }
    shape.single_user = spec.exclusive == model::Exclusive::User || partition.exclusive_user;
    if (shape.single_user) shape.uid = spec.uid;
    shape.overcommit = spec.overcommit;
}

}  // namespace

bool takes_whole_nodes(const model::JobSpec& spec, const model::Partition& partition,
                       const Selection& selection) {
    return spec.exclusive == model::Exclusive::Node || spec.exclusive == model::Exclusive::Topo ||
           partition.over_subscribe == model::Partition::OverSubscribe::Exclusive ||
           selection.unit == Selection::Unit::WholeNode || spec.core_spec.value_or(0) > 0;
}

std::uint64_t Shape::gpu_total() const {
    std::uint64_t total = 0;
    for (const GresNeed& need : gpus_per_job) total += need.count;
    return total;
}

Shape shape_of(const model::JobSpec& spec, const model::Partition& partition,
               const Selection& selection) {
    Shape shape;
    set_nodes(shape, spec, partition);
    set_tasks(shape, spec);
    shape.cpus_per_task = std::max(1u, spec.cpus_per_task.value_or(1));
    shape.cpus_per_node_min = std::max(1u, spec.cpus_per_node_min.value_or(1));
    if (partition.max_cpus_per_node) shape.cpus_per_node_max = *partition.max_cpus_per_node;
    shape.threads_per_core = spec.threads_per_core.value_or(0);
    shape.threads_min = spec.threads_per_core.value_or(0);
    shape.sockets_min = spec.sockets_per_node.value_or(0);
    shape.cores_per_socket_min = spec.cores_per_socket.value_or(0);
    shape.memory_per = spec.memory.per;
    shape.memory = spec.memory.amount.value;
    if (!selection.memory_is_consumable) {
        shape.memory_per = model::MemoryRequest::Per::Unset;
        shape.memory = 0;
    }
    if (spec.time_min && !spec.time_min->unlimited)
        shape.seconds_min = spec.time_min->seconds.count();
    set_gres(shape, spec);
    set_sharing(shape, spec, partition, selection);
    if (shape.whole_nodes) shape.core_spec = spec.core_spec.value_or(0);
    return shape;
}

std::uint32_t task_count(const model::JobSpec& spec, std::uint32_t nodes) {
    Shape shape;
    set_nodes(shape, spec, model::Partition{});
    set_tasks(shape, spec);
    return shape.total_tasks(std::max(1u, nodes));
}

}  // namespace switchyard::core::sched
