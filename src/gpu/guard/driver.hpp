// driver.hpp: the real CUDA driver and the real NVML behind the guard: found once, by name.
#pragma once

#include "gpu/guard/cuda_abi.hpp"

namespace switchyard::guard {

// dlsym as the C library has it, not ours.
using Dlsym = void* (*)(void* handle, const char* name);
Dlsym real_dlsym();

// A function of libcuda.so.1 or of libnvidia-ml.so.1; null if it has none of this name.
void* driver_function(const char* name);
void* nvml_function(const char* name);

// Calls a function of the driver by name: kCudaNotInitialized where it is missing. The pointer is
// kept after the first look-up.
#define SY_DRIVER(name, ...)                                                      \
    ([]() {                                                                       \
        using Found = __VA_ARGS__;                                                \
        static const auto found = reinterpret_cast<Found>(driver_function(name)); \
        return found;                                                             \
    }())

}  // namespace switchyard::guard
