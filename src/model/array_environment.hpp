// array_environment.hpp: what the script of an array's element, and the site's programs around it,
// are told of its place.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/assert.hpp"
#include "model/job_array.hpp"

namespace switchyard::model {

inline std::array<std::pair<std::string_view, std::uint32_t>, 6> array_variables(
    const ArrayPlace& place) {
    SY_ASSERT(place.element);
    return {{{"SLURM_ARRAY_JOB_ID", place.array_id.value},
             {"SLURM_ARRAY_TASK_ID", *place.element},
             {"SLURM_ARRAY_TASK_COUNT", place.count},
             {"SLURM_ARRAY_TASK_MAX", place.max},
             {"SLURM_ARRAY_TASK_MIN", place.min},
             {"SLURM_ARRAY_TASK_STEP", place.step}}};
}

}  // namespace switchyard::model
