#include "gpu/guard/driver.hpp"
#include "gpu/guard/old_glibc.hpp"

#include <dlfcn.h>

#include <initializer_list>

namespace switchyard::guard {

Dlsym real_dlsym() {
    static const Dlsym found = [] {
        for (const char* version : {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"}) {
            if (void* at = dlvsym(RTLD_NEXT, "dlsym", version)) return reinterpret_cast<Dlsym>(at);
        }
        return static_cast<Dlsym>(nullptr);
    }();
    return found;
}

namespace {

void* open_library(const char* name) {
    // The one the program has loaded already, wherever it found it.
    if (void* loaded = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) return loaded;
    return dlopen(name, RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace

void* driver_function(const char* name) {
    static void* const library = open_library("libcuda.so.1");
    return library == nullptr || real_dlsym() == nullptr ? nullptr : real_dlsym()(library, name);
}

void* nvml_function(const char* name) {
    static void* const library = open_library("libnvidia-ml.so.1");
    return library == nullptr || real_dlsym() == nullptr ? nullptr : real_dlsym()(library, name);
}

}  // namespace switchyard::guard
