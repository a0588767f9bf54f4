// nvml_abi.hpp: the few types and numbers of NVML's C interface that we use, declared by us.
//
// NVML is opened at run time and its functions are found by name, so nothing of the vendor's is
// needed to build. Layouts are part of NVML's documented, versioned interface (the suffix _v2, _v3
// of a function fixes the layout of its structs).
#pragma once

namespace switchyard::gpu::nvml {

using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kNotFound = 6;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kTimeout = 10;
inline constexpr Return kFunctionNotFound = 13;
inline constexpr Return kGpuIsLost = 15;
inline constexpr Return kResetRequired = 16;
inline constexpr Return kVersionMismatch = 25;

struct DeviceRecord;
using Device = DeviceRecord*;
struct EventSetRecord;
using EventSet = EventSetRecord*;

struct Memory {
    unsigned long long total, free, used;
};

// Of nvmlDeviceGetMemoryInfo_v2: what the driver keeps for itself is not in `used`.
struct MemoryV2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
inline constexpr unsigned kMemoryV2 = sizeof(MemoryV2) | 2u << 24;

struct Utilization {
    unsigned gpu, memory;  // Percent over the driver's last sample period.
};

struct ProcessInfo {  // Of nvmlDeviceGetComputeRunningProcesses_v3.
    unsigned pid;
    unsigned long long used_memory;
    unsigned gpu_instance, compute_instance;
};

struct ProcessSample {  // Of nvmlDeviceGetProcessUtilization.
    unsigned pid;
    unsigned long long time;  // Microseconds.
    unsigned sm, memory, encoder, decoder;
};

struct EventData {
    Device device;
    unsigned long long type, data;
    unsigned gpu_instance, compute_instance;
};

// Of nvmlDeviceSetMemoryLimits_v1 and nvmlDeviceGetMemoryLimits_v1, from r615 on. Bytes; a soft
// limit of 0 and a hard one of ~0 are none.
struct SetMemoryLimits {
    const char* cgroup;  // The path of its folder.
    unsigned long long soft, hard;
};
struct GetMemoryLimits {
    const char* cgroup;
    unsigned long long soft, hard, used;
};

inline constexpr unsigned long long kEventXid = 8;
inline constexpr unsigned kP2pNvlink = 2;  // Index of nvmlDeviceGetP2PStatus.
inline constexpr unsigned kNameBytes = 96;
inline constexpr unsigned kUuidBytes = 96;
inline constexpr unsigned kVersionBytes = 80;
inline constexpr unsigned long long kUnknownBytes = ~0ull;  // "Not available" in a process list.

}  // namespace switchyard::gpu::nvml
