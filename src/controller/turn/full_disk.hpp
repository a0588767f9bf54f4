// full_disk.hpp: what becomes of requests while there is no room for records. Questions are
// answered; nothing is taken in that would have to be written, and whoever asked for it is told at
// once.
#pragma once

#include "base/result.hpp"

namespace switchyard::controller {

// Whether a request of this kind (wire::Request::BodyCase) can be taken in now.
Status may_take_in(bool disk_is_full, int body);

}  // namespace switchyard::controller
