// update_partition.cpp: partitions changed, made and removed at run time. Such changes outlive a
// restart.

#include <algorithm>

#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

template <class T>
void assign(T& field, const std::optional<T>& value) {
    if (value) field = *value;
}

// None where the partition then has no limit, or none of its own.
void assign_limit(std::optional<std::uint32_t>& field, const std::optional<std::uint32_t>& value) {
    if (!value) return;
    field = value;
    if (*value == model::PartitionUpdate::kNone) field.reset();
}

// Of memory there is one limit: by CPU, or by node; 0 is none.
void assign_memory(std::optional<model::MiB>& field, std::optional<model::MiB>& other,
                   const std::optional<model::MiB>& value) {
    if (!value) return;
    other.reset();
    field = value;
    if (value->value == 0) field.reset();
}

void apply_rules(model::Partition& partition, const model::PartitionUpdate& update) {
    assign(partition.deny_accounts, update.deny_accounts);
    assign(partition.allow_qos, update.allow_qos);
    assign(partition.deny_qos, update.deny_qos);
    assign(partition.alloc_nodes, update.alloc_nodes);
    assign(partition.qos, update.qos);
    assign(partition.alternate, update.alternate);
    assign(partition.disable_root_jobs, update.disable_root_jobs);
    assign(partition.lln, update.lln);
    assign(partition.require_reservation, update.require_reservation);
    assign(partition.exclusive_user, update.exclusive_user);
    assign_limit(partition.max_cpus_per_node, update.max_cpus_per_node);
    assign_limit(partition.over_time_limit, update.over_time_limit);
    assign_memory(partition.def_mem_per_cpu, partition.def_mem_per_node, update.def_mem_per_cpu);
    assign_memory(partition.def_mem_per_node, partition.def_mem_per_cpu, update.def_mem_per_node);
    assign_memory(partition.max_mem_per_cpu, partition.max_mem_per_node, update.max_mem_per_cpu);
    assign_memory(partition.max_mem_per_node, partition.max_mem_per_cpu, update.max_mem_per_node);
}

void apply(model::Partition& partition, const model::PartitionUpdate& update) {
    apply_rules(partition, update);
    assign(partition.nodes, update.nodes);
    assign(partition.allow_groups, update.allow_groups);
    assign(partition.allow_accounts, update.allow_accounts);
    assign(partition.state, update.state);
    assign(partition.is_default, update.is_default);
    assign(partition.hidden, update.hidden);
    assign(partition.root_only, update.root_only);
    assign(partition.max_time, update.max_time);
    assign(partition.default_time, update.default_time);
    assign(partition.min_nodes, update.min_nodes);
    assign(partition.priority_tier, update.priority_tier);
    assign(partition.priority_job_factor, update.priority_job_factor);
    assign(partition.max_nodes, update.max_nodes);
    assign(partition.over_subscribe, update.over_subscribe);
    assign(partition.grace_time, update.grace_time);
    if (update.preempt_mode) partition.preempt_mode = *update.preempt_mode;
}

}  // namespace

void Cluster::Impl::write_partition(const model::Partition& partition) {
    runtime_partitions_.insert(partition.name);
    deleted_partitions_.erase(partition.name);
    changes_.partitions.insert(partition.name);
}

void Cluster::Impl::on(const event::UpdatePartition& event) {
    if (!rights_of(event.caller).may_administer()) return refuse(event.token, Errc::InvalidUserId);
    model::PartitionUpdate update = event.update;
    if (const Status fine = check_texts(update); !fine)
        return reply(event.token, reply::Failed{fine.error(), {}});
    if (update.nodes) drop_repeated(*update.nodes);
    using Action = model::PartitionUpdate::Action;
    const auto index = partition_index(update.name);
    if (update.nodes) {
        for (const std::string& name : *update.nodes) {
            if (!node_index(name)) return refuse(event.token, Errc::InvalidNodeName);
        }
    }
    if (update.action == Action::Delete) {
        if (!index) return refuse(event.token, Errc::InvalidPartition);
        for (const auto& [id, job] : jobs_) {
            const bool runs_there = !model::is_finished(job) &&
                                    !std::holds_alternative<model::Pending>(job.phase) &&
                                    job.partition == update.name;
            if (runs_there) {
                return reply(event.token,
                             reply::Failed{{Errc::InvalidArgument, "Partition is in use"}, {}});
            }
        }
        partitions_.erase(partitions_.begin() + static_cast<std::ptrdiff_t>(*index));
        runtime_partitions_.erase(update.name);
        deleted_partitions_.insert(update.name);
        changes_.partitions.insert(update.name);
    } else {
        if (update.action == Action::Create && index) {
            return reply(event.token,
                         reply::Failed{{Errc::InvalidPartition, "Partition already exists"}, {}});
        }
        if (update.action == Action::Update && !index)
            return refuse(event.token, Errc::InvalidPartition);
        model::Partition partition;
        partition.name = update.name;
        if (index) partition = partitions_[*index];
        apply(partition, update);
        if (update.is_default.value_or(false)) {
            for (model::Partition& other : partitions_) {
                if (!other.is_default || other.name == partition.name) continue;
                other.is_default = false;
                write_partition(other);
            }
        }
        write_partition(partition);
        if (index) {
            partitions_[*index] = std::move(partition);
        } else {
            partitions_.push_back(std::move(partition));
        }
    }
    planning_.feasibility.usable_nodes_changed();
    rebuild();
    reply(event.token, reply::Done{{}, 1, {}});
}

}  // namespace switchyard::core
