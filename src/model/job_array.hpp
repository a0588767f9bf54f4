// job_array.hpp: --array expressions and the place of a job in its array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "model/index_set.hpp"

namespace switchyard::model {

// "0-15:4%2,20": which elements, and how many may run at once (0: all).
struct ArraySpec {
    IndexSet elements;
    std::uint32_t throttle = 0;
    std::uint32_t step =
        1;  // Of a single stepped range, else 1; only told in SLURM_ARRAY_TASK_STEP.
    bool operator==(const ArraySpec&) const = default;
};
Result<ArraySpec> parse_array(std::string_view text);

// Where a job record stands in an array. The record made at submission holds all elements that have
// not started; each element gets a record of its own, with an id of its own, when it starts; the
// last one keeps the record, and so the array's own id.
struct ArrayPlace {
    JobId array_id;                        // "%A"
    std::optional<std::uint32_t> element;  // "%a"; none while this record stands for several.
    IndexSet pending;                      // The elements it stands for, while there are several.
    std::uint32_t throttle = 0;
    std::uint32_t count = 0, min = 0, max = 0, step = 1;  // Of the array as submitted.
    bool operator==(const ArrayPlace&) const = default;
};

// The bracket text of a pending block: "3-8%2" (squeue shows 126_[3-8%2]); cut to `length_max`
// characters with "..." as squeue does (0: never).
std::string format_pending_elements(const ArrayPlace& place, std::size_t length_max = 0);

// A job as typed on a command line: "12", "12_3", "12_[1-3,7]", "12_*", "12.0", "12.batch", "12+1".
struct JobSelector {
    JobId job;
    std::optional<IndexSet>
        elements;  // Set for 12_3 and 12_[..]; empty set with all_elements for 12_*.
    bool all_elements = false;
    std::optional<StepId> step;
    bool component = false;  // "12+1": this part of a heterogeneous job, not the whole of it.
    bool operator==(const JobSelector&) const = default;
};
Result<JobSelector> parse_job_selector(std::string_view text);

}  // namespace switchyard::model
