// reservation_words.hpp: "resv create name=r start=60 ..." of a scenario as the request it stands
// for.
#pragma once

#include "base/time.hpp"
#include "core/testing/transcript_words.hpp"
#include "model/reservation.hpp"

namespace switchyard::core::testing {

// resv create|update|delete name= start=SECONDS len=MINUTES nodes= count= part= feat= lic= flags=
// users=UIDS addusers= delusers= deny= groups= accounts=
// delay=MINUTES, and skip.
model::ReservationUpdate reservation_update(const Words& words, Instant now);

}  // namespace switchyard::core::testing
