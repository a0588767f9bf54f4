// selection.hpp: what is handed out of a node (SelectTypeParameters).
#pragma once

#include <cstdint>

namespace switchyard::core::sched {

struct Selection {
    enum class Unit : std::uint8_t { Core = 0, Cpu = 1, Socket = 2, WholeNode = 3 };
    Unit unit = Unit::Core;            // CR_Core, CR_CPU, CR_Socket, select/linear.
    bool memory_is_consumable = true;  // CR_*_Memory
};

}  // namespace switchyard::core::sched
