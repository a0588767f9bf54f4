// nice.hpp: how far a job's priority can be lowered or raised by --nice.
#pragma once

#include <cstdint>

namespace switchyard::model {

inline constexpr std::int32_t kNiceMax = 0x7ffffffd;  // Slurm's NICE_OFFSET less three.

}  // namespace switchyard::model
