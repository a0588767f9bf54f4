// version.hpp: the version of Slurm whose face we wear.
#pragma once

#include <string_view>

namespace switchyard {

inline constexpr std::string_view kSlurmRelease = "25.11.0";

}  // namespace switchyard
