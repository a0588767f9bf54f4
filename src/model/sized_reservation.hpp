// sized_reservation.hpp: a reservation as it is shown: with what it has in all.
#pragma once

#include <cstdint>

#include "model/reservation.hpp"

namespace switchyard::model {

struct SizedReservation {
    Reservation reservation;
    std::uint32_t cores = 0, cpus = 0;
};

}  // namespace switchyard::model
