// config_layout.hpp: the order of `scontrol show config`, and what it says of keys that mean
// nothing here, so that a program finds every key of Slurm's.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace switchyard::controller {

using ConfigValues = std::vector<std::pair<std::string, std::string>>;

// The values in Slurm's order, with the keys that are missing among them.
ConfigValues lay_out(ConfigValues values);

}  // namespace switchyard::controller
