// reservation_keys.hpp: "Key=Value" words of scontrol create and update reservation, turned into a
// typed change. Pure, like update_keys.hpp.
#pragma once

#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/scontrol/update_keys.hpp"
#include "model/reservation.hpp"

namespace switchyard::cli {

// InvalidArgument holds the sentence that Slurm prints, "No reservation created." at its end;
// Unsupported one without that end. Other codes are what the controller would have answered.
Result<model::ReservationUpdate> parse_reservation_change(const std::vector<KeyWord>& words,
                                                          model::ReservationUpdate::Action action,
                                                          Instant now);

}  // namespace switchyard::cli
