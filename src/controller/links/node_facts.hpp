// node_facts.hpp: what an agent says of its node is believed only within the limits of what a node
// can be: the core keeps a place for each core and device.
#pragma once

#include "base/result.hpp"
#include "model/node.hpp"

namespace switchyard::wire {
class Load;
class Register;
}  // namespace switchyard::wire

namespace switchyard::controller {

// Before it is decoded: how long its lists and texts are.
Status check_registration(const wire::Register& message);
Status check_facts(const model::NodeFacts& facts);
Status check_load(const wire::Load& message);

}  // namespace switchyard::controller
