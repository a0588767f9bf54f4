// pmix_server.hpp: PMIx, which Open MPI and others speak, by the library of the OpenPMIx project.
//
// The library is opened at run time and brings threads of its own, which a stepd must not have: it
// lives in a process beside the stepd, forked from it and gone when the stepd closes the socket
// between them. That process answers the tasks; what concerns other nodes passes through the stepd.
#pragma once

#include "pmi/server.hpp"

namespace switchyard::pmi {

// Whether this build knows PMIx and the library can be opened here.
bool has_pmix();

Result<std::unique_ptr<Server>> make_pmix_server(io::Loop& loop, Place place, Send send,
                                                 Ready ready);

}  // namespace switchyard::pmi
