// views.hpp: what a scenario shows of a cluster, line by line.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/cluster.hpp"

namespace switchyard::core::testing {

// Scenarios begin here; transcripts show plain seconds.
inline constexpr std::int64_t kEpoch = 1000000;

using Lines = std::vector<std::string>;
Lines queue_lines(const Cluster& cluster);
Lines trigger_lines(const Cluster& cluster);
Lines reservation_lines(const Cluster& cluster, Instant now);
Lines license_lines(const Cluster& cluster);
Lines node_lines(const Cluster& cluster);
Lines step_lines(const Cluster& cluster);
Lines preemptable_lines(const Cluster& cluster);  // From when on those that run are.

}  // namespace switchyard::core::testing
