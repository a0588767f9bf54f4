// intercept.hpp: the functions the guard puts before the driver's, by the driver's own names.
//
// Programs reach the driver in three ways: linked to it, by dlsym, and (the CUDA runtime from
// version 12 on) by cuGetProcAddress. The functions here have the driver's names, so the first way
// finds them because the guard is preloaded; dlsym and cuGetProcAddress are replaced and hand them
// out for the other two.
#pragma once

#include "gpu/guard/cuda_abi.hpp"

#define SY_EXPORT extern "C" __attribute__((visibility("default")))

namespace switchyard::guard {

struct Replacement {
    const char* symbol;  // "cuMemAlloc_v2": what dlsym is asked for.
    const char* base;    // "cuMemAlloc": what cuGetProcAddress is asked for.
    int version;         // The first CUDA version whose cuGetProcAddress gives this one.
    bool per_thread;     // The variant for per-thread default streams.
    void* function;
};

struct Replacements {
    const Replacement* first;
    unsigned count;
};

Replacements memory_replacements();
Replacements launch_replacements();
Replacements other_replacements();

}  // namespace switchyard::guard
