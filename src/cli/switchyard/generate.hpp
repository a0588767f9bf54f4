// generate.hpp: the slurm.conf of a cluster that needed none. Pure: text from values.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "cli/switchyard/place.hpp"
#include "model/size_format.hpp"

namespace switchyard::cli {

struct Machine {
    std::string host;
    std::string user;  // SlurmUser: who started it.
    std::uint32_t cpus = 1;
    model::MiB memory;
    std::uint32_t gpus = 0;  // /dev/nvidia0 and so on.
};

struct Files {
    std::string slurm_conf;
    std::string gres_conf;  // Empty: none is needed.
};

// The settings that shaped a cluster as one line, to see later whether they are still the same.
std::string shape_line(const Wishes& wishes);
// The shape line of a file made earlier; empty where there is none.
std::string find_shape_line(const std::string& slurm_conf);

Result<Files> generate(const Place& place, const Wishes& wishes, const Machine& machine,
                       std::uint16_t port);

}  // namespace switchyard::cli
