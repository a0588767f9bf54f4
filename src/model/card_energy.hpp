// card_energy.hpp: what the cards of a job drew: of all its steps together, and the most at one
// moment.
#pragma once

#include <cstdint>
#include <optional>

#include "model/usage.hpp"

namespace switchyard::model {

struct CardEnergy {
    std::uint64_t joules = 0;
    UsageMark most_watts;
};

// One step's part; nothing happens if its cards do not tell, or it has none.
void add_energy(std::optional<CardEnergy>& to, const StepUsage& usage);

}  // namespace switchyard::model
