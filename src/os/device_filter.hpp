// device_filter.hpp: which devices the processes of a cgroup may open, in the unified hierarchy.
//
// v2 has no devices controller: a small BPF program attached to the cgroup is asked at every open
// and mknod. The program is written here instruction by instruction and loaded by bpf(2) itself, so
// that no compiler and no library is needed at run time. It allows everything but the devices
// named. The kernel drops it together with the cgroup.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "os/containment.hpp"

namespace switchyard::os {

// The program as the kernel's 8-byte instructions.
std::vector<std::uint64_t> device_program(const std::vector<DeviceFile>& denied);

// Attaches a program that denies these devices to a cgroup, for all that is in it or below.
// Unsupported: the kernel or our rights do not allow it.
Status deny_devices(const std::string& cgroup, const std::vector<DeviceFile>& denied);

// Whether such a program can be loaded here at all.
bool can_deny_devices();

}  // namespace switchyard::os
