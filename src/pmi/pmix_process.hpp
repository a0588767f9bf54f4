// pmix_process.hpp: the process in which the PMIx library lives (see pmix_server.hpp).
#pragma once

#include "pmi/place.hpp"

namespace switchyard::pmi {

bool can_open_pmix();

// In a fresh child of a process without threads, as the user. `place.folder` is its own. It ends
// when the other end of `socket` closes, or with its parent.
[[noreturn]] void run_pmix_process(const Place& place, int socket);

}  // namespace switchyard::pmi
