// shared_file.hpp: a file that several processes have mapped, and the question whether the process
// that owns a place in it still lives. Nobody trusts what is in such a file further than sums.
#pragma once

#include <cstddef>
#include <cstdint>

namespace switchyard::guard {

// Maps a file of `bytes` (made longer if it is shorter). At the path of a socket somebody hands
// over a descriptor: memory that no other user can cut off under us. Private memory of the same
// size when the path is null or cannot be opened: then this process counts alone. `shared` tells
// which.
void* map_file(const char* path, std::size_t bytes, bool* shared);

// The start time of a process in clock ticks after boot; 0 if it does not exist or is a zombie.
// With the process id, names one process for good.
std::uint64_t start_time(std::uint32_t pid);
bool is_alive(std::uint32_t pid, std::uint64_t started);

std::uint64_t now_ns();

}  // namespace switchyard::guard
