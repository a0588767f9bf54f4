// output_pattern.hpp: "logs/out-%5j-%t.log" and the file it names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.hpp"

namespace switchyard::model {

struct PatternFacts {
    JobId job;
    std::optional<JobId> array_job;
    std::optional<std::uint32_t> element;
    std::string job_name, user, node;   // node: short host name of the first (or this) node.
    std::uint32_t node_index = 0;       // %n, relative to the job
    std::optional<StepId> step;         // %s, %J
    std::optional<std::uint32_t> task;  // %t
};

// %A %a %b %J %j %N %n %s %t %u %x %%, with a zero-padded width ("%4t"); a backslash anywhere in
// the pattern turns expansion off. Unset step: "batch"; element of a job that is no array:
// 4294967294, as Slurm does.
std::string expand_pattern(std::string_view pattern, const PatternFacts& facts);
// True if the pattern names a file of its own for each task (%t) or node (%n, %N).
bool is_per_task(std::string_view pattern);
bool is_per_node(std::string_view pattern);

}  // namespace switchyard::model
