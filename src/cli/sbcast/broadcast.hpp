// broadcast.hpp: a file on every node of a job: what sbcast does, and srun --bcast before its step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace switchyard::cli {

struct Broadcast {
    std::uint32_t job = 0;
    std::vector<std::string> nodes;  // Of the job; empty: all of them.
    std::string source, target;      // A target that is no absolute path is in the present folder.
    bool force = false, preserve = false, send_libs = false, verbose = false;
    std::string exclude = "/lib,/usr/lib,/lib64,/usr/lib64";  // Of send_libs; "NONE": nothing.
    std::uint32_t timeout_seconds = 0;                        // 0: as long as it takes.
};

// Where the libraries of a program go: beside it.
std::string libraries_folder(const std::string& target);

// What went wrong on a node has been printed; the message is then empty.
Status broadcast(const Broadcast& plan);

}  // namespace switchyard::cli
