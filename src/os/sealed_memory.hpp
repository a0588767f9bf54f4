// sealed_memory.hpp: memory that processes of several users share, and that none of them can take
// away from the others.
//
// A file that somebody may write can be cut off by them, and whoever has mapped it dies of that. So
// this is a memfd whose length is sealed. It has no name in a file system: it is handed over as a
// descriptor, and lives as long as anybody has it.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"

namespace switchyard::os {

Result<io::Fd> make_sealed_memory(const std::string& name, std::size_t bytes);
// What another process of ours has under that name. Users can give theirs the same one: it must be
// our own. NotFound
Result<io::Fd> find_sealed_memory(const std::string& name, std::size_t bytes);
// By "/proc/PID/fd/N" of a process of ours. InvalidArgument: it is something else.
Result<io::Fd> open_sealed_memory(const std::string& path, std::size_t bytes);

}  // namespace switchyard::os
