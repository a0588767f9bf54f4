// job_facts.hpp: small questions about one job that its record answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "core/sched/order.hpp"
#include "model/job.hpp"
#include "model/partition.hpp"

namespace switchyard::core {

// An outcome that no process had a part in.
inline model::Outcome outcome_without_exit(model::JobState state, model::Reason reason,
                                           std::optional<std::uint32_t> by = std::nullopt) {
    model::Outcome outcome;
    outcome.state = state;
    outcome.reason = reason;
    outcome.cancelled_by = by;
    return outcome;
}

inline bool is_configuring(const model::Job& job) {
    const model::Running* run = model::run_of(job);
    return run != nullptr && run->configuring;
}

// Nodes speak for the jobs that they have, or had, a part in, and for no others.
inline bool speaks_for(const std::string& node, const model::Job& job) {
    const model::Allocation* allocation = model::allocation_of(job);
    return allocation != nullptr && allocation->find(node) != nullptr;
}

// Of a heterogeneous job, but not its leader.
inline bool is_follower(const model::Job& job) { return job.het && job.het->offset > 0; }

// Its place in line, in one partition.
inline sched::QueueKey key_of(const model::Job& job, const model::Partition& partition) {
    const std::uint32_t sequence = job.array ? job.array->array_id.value : job.id.value;
    return {partition.priority_tier, job.priority, sequence, job.id};
}

// The later its number, the lower; as an administrator said, if one did.
inline constexpr std::uint32_t kPriorityTop = 4294901760u;
inline std::uint32_t base_priority(JobId id, const model::JobSpec& spec, bool privileged) {
    if (spec.priority && (privileged || *spec.priority == 0)) return *spec.priority;
    const std::int64_t fallen = std::int64_t{kPriorityTop} - id.value - spec.nice;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(fallen, 1, 0xfffffffe));
}

}  // namespace switchyard::core
