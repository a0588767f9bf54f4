// keys.hpp: every single-value key of slurm.conf: what it sets, or that it sets nothing here.
#pragma once

#include "config/config.hpp"
#include "config/setters.hpp"

namespace switchyard::config {

// nullptr: no Slurm has such a key. Keys of NodeName, PartitionName and the like are not here.
const KeyRule<Config>* find_key(std::string_view key);

}  // namespace switchyard::config
