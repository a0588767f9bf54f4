// simple_server.hpp: PMI-1 and PMI-2 over a socket that each task inherits (PMI_FD). Which of the
// two a task speaks, its first line says; MPICH and its relatives know one or both.
#pragma once

#include "pmi/server.hpp"

namespace switchyard::pmi {

Result<std::unique_ptr<Server>> make_simple_server(io::Loop& loop, Place place, Send send,
                                                   Ready ready);

}  // namespace switchyard::pmi
