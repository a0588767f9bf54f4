// node_facts.hpp: what an agent says about its machine, and what the configuration says of it.
#pragma once

#include <optional>
#include <string>

#include "model/node.hpp"

namespace switchyard::core {

// What the configuration leaves open is taken from the machine.
void fill_from_facts(model::NodeConfig& config, bool gres_are_configured,
                     const model::NodeFacts& facts);

// Why a machine is less than it was said to be; empty: it is not.
std::string shortfall(const model::NodeConfig& config, const model::NodeFacts& facts);

// Apart from what changes all the time.
bool same_machine(const std::optional<model::NodeFacts>& known, model::NodeFacts facts);

}  // namespace switchyard::core
