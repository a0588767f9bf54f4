// pmix_process.hpp: the process in which the PMIx library lives (see pmix_server.hpp).
#pragma once

#include "pmi/place.hpp"

namespace switchyard::pmi {

bool can_open_pmix();

// In a fresh child of a process without threads. `place.folder` is its own and is removed at the
// end, which is when the other end of `socket` closes.
[[noreturn]] void run_pmix_process(const Place& place, int socket);

}  // namespace switchyard::pmi
