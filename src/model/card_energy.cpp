#include "model/card_energy.hpp"

namespace switchyard::model {

void add_energy(std::optional<CardEnergy>& to, const StepUsage& usage) {
    const UsageMeasure* energy = find_measure(usage, "energy");
    const UsageMeasure* power = find_measure(usage, "gres/gpupower");
    if (energy == nullptr || power == nullptr) return;
    if (!to) to.emplace();
    to->joules += energy->total;
    if (power->max.value >= to->most_watts.value) to->most_watts = power->max;
}

}  // namespace switchyard::model
