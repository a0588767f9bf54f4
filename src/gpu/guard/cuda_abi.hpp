// cuda_abi.hpp: the few types and numbers of the CUDA driver's C interface that the guard touches,
// declared by us. Structs are those of the function versions named in intercept.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

namespace switchyard::guard {

using Result = int;
inline constexpr Result kCudaSuccess = 0;
inline constexpr Result kCudaInvalidValue = 1;
inline constexpr Result kCudaOutOfMemory = 2;
inline constexpr Result kCudaNotInitialized = 3;

using DevicePointer = unsigned long long;
using DeviceNumber = int;
using Context = void*;
using Stream = void*;
using Event = void*;
using Function = void*;
using MemoryHandle = unsigned long long;
using Array = void*;

struct Uuid {
    unsigned char bytes[16];
};

struct ArrayShape {  // CUDA_ARRAY_DESCRIPTOR
    std::size_t width, height;
    int format;
    unsigned channels;
};

struct ArrayShape3d {  // CUDA_ARRAY3D_DESCRIPTOR
    std::size_t width, height, depth;
    int format;
    unsigned channels, flags;
};

struct MemoryLocation {
    int type;  // 1: a device.
    int id;
};
inline constexpr int kLocationDevice = 1;

struct MemoryProperties {  // The head of CUmemAllocationProp.
    int type, handle_types;
    MemoryLocation location;
};

struct LaunchConfig {  // The head of CUlaunchConfig.
    unsigned grid[3], block[3], shared_bytes;
    Stream stream;
};

inline constexpr unsigned kEventBlockingSync = 1, kEventDisableTiming = 2;
inline constexpr int kCaptureRelaxed = 2;
inline constexpr std::uint64_t kPerThreadStreams = 2;  // A flag of cuGetProcAddress.

struct NvmlMemory {
    unsigned long long total, free, used;
};
struct NvmlMemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
struct NvmlProcess {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

}  // namespace switchyard::guard
