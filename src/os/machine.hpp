// machine.hpp: what the kernel says of this machine: names, load, memory, since when it is up.
#pragma once

#include <cstdint>
#include <string>

#include "base/time.hpp"
#include "model/size_format.hpp"

namespace switchyard::os {

std::string host_name();     // Up to the first dot, as Slurm names hosts.
std::string architecture();  // "x86_64"
std::string
operating_system();     // "Linux 6.1.0-13-amd64 #1 SMP ...", as scontrol show node prints it.
double load_average();  // Of the last minute.
model::MiB total_memory();
model::MiB free_memory();
model::MiB disk_size(const std::string& path);  // Of the file system it is on.
Instant booted_at();
Instant now();

}  // namespace switchyard::os
