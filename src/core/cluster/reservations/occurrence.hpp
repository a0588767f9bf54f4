// occurrence.hpp: one time of a reservation; the times of one that comes again.
#pragma once

#include <vector>

#include "base/time.hpp"
#include "model/reservation.hpp"

namespace switchyard::core {

struct Occurrence {
    Instant start{}, end{};
};

// What is left of it, from now on.
std::vector<Occurrence> occurrences_of(const model::Reservation& reservation, Instant now);

// To the occurrence after the present one.
void move_on(model::Reservation& reservation, Instant now);

}  // namespace switchyard::core
