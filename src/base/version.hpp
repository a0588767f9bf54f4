// version.hpp: the version of Slurm whose face we wear.
#pragma once

#include <string_view>

namespace switchyard {

// What every command and daemon answers to --version.
inline constexpr std::string_view kVersionLine = "slurm 26.05.0";
inline constexpr std::string_view kSlurmRelease = kVersionLine.substr(kVersionLine.find(' ') + 1);

}  // namespace switchyard
