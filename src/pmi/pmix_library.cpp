#include "pmi/pmix_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "pmi/pmix_process.hpp"

#ifdef SY_HAS_PMIX_HEADERS

namespace switchyard::pmi {
namespace {

constexpr const char* kLibrary = "libpmix.so.2";

template <class Function>
bool find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    return function != nullptr;
}

}  // namespace

bool can_open_pmix() {
    static const bool can = ::dlopen(kLibrary, RTLD_LAZY | RTLD_LOCAL) != nullptr;
    return can;
}

// Its plugins look for its symbols among all.
Result<PmixLibrary> open_pmix_library() {
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
    if (library == nullptr) return fail(Errc::Unsupported, ::dlerror());
    PmixLibrary found;
    const bool complete = find(library, "PMIx_server_init", found.server_init) &&
                          find(library, "PMIx_server_register_nspace", found.register_nspace) &&
                          find(library, "PMIx_server_register_client", found.register_client) &&
                          find(library, "PMIx_server_setup_fork", found.setup_fork) &&
                          find(library, "PMIx_server_dmodex_request", found.dmodex_request) &&
                          find(library, "PMIx_generate_regex", found.generate_regex) &&
                          find(library, "PMIx_generate_ppn", found.generate_ppn) &&
                          find(library, "PMIx_Error_string", found.error_string);
    if (!complete) return fail(Errc::Unsupported, fmt::format("{}: {}", kLibrary, ::dlerror()));
    return found;
}

}  // namespace switchyard::pmi

#else

namespace switchyard::pmi {

bool can_open_pmix() { return false; }
void run_pmix_process(const Place&, int) { __builtin_unreachable(); }

}  // namespace switchyard::pmi
#endif
