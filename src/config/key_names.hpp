// key_names.hpp: the names of the keys of slurm.conf, for documents: which are used and which have
// no effect.
#pragma once

#include <string_view>
#include <vector>

namespace switchyard::config {

struct KeyName {
    std::string_view name;
    bool used;
};
std::vector<KeyName> known_keys();  // In alphabetical order.

}  // namespace switchyard::config
