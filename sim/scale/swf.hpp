// swf.hpp: recorded workloads in the Standard Workload Format: one job a line, eighteen numbers,
// comments with the machine's size at the top.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "sim/scale/site.hpp"

namespace switchyard::sim::scale {

struct Trace {
    std::unique_ptr<Stream> stream;
    std::uint32_t nodes = 0, cores_per_node = 1;
};

// At most `jobs` of it; gaps between arrivals are divided by `load`.
Result<Trace> read_swf(const std::string& path, std::uint32_t jobs, double load, Instant from);

}  // namespace switchyard::sim::scale
