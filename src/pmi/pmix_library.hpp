// pmix_library.hpp: the functions of libpmix that are used, opened at run time.
#pragma once

#ifdef SY_HAS_PMIX_HEADERS
#include <pmix.h>
#include <pmix_server.h>

#include "base/result.hpp"

namespace switchyard::pmi {

struct PmixLibrary {
    decltype(&PMIx_server_init) server_init = nullptr;
    decltype(&PMIx_server_register_nspace) register_nspace = nullptr;
    decltype(&PMIx_server_register_client) register_client = nullptr;
    decltype(&PMIx_server_setup_fork) setup_fork = nullptr;
    decltype(&PMIx_server_dmodex_request) dmodex_request = nullptr;
    decltype(&PMIx_generate_regex) generate_regex = nullptr;
    decltype(&PMIx_generate_ppn) generate_ppn = nullptr;
    decltype(&PMIx_Error_string) error_string = nullptr;
};

// Stays open until the process ends.
Result<PmixLibrary> open_pmix_library();

}  // namespace switchyard::pmi
#endif
