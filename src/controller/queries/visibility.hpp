// visibility.hpp: which partitions somebody is not shown unless they ask for all of them.
#pragma once

#include <string>
#include <vector>

#include "core/cluster/event.hpp"
#include "model/partition.hpp"

namespace switchyard::controller {

class Controller;

// Those that are hidden, and those whose AllowGroups the caller is in none of. Operators are shown
// all.
std::vector<std::string> concealed_partitions(Controller& controller, const core::Caller& caller);

}  // namespace switchyard::controller
