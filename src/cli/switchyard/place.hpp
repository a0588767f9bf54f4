// place.hpp: which cluster `switchyard up`, `down` and `status` are about, and where it
// lives.
//
// A cluster is a folder with its slurm.conf and everything it writes. Root's clusters are in
// /var/lib/switchyard/<name> and serve all users; anybody else's are in ~/.switchyard/<name> and
// serve them.
#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/switchyard/wishes.hpp"

namespace switchyard::cli {

struct Place {
    std::string name;
    std::string folder;   // Absolute.
    std::string config;   // <folder>/slurm.conf
    std::string run_dir;  // Sockets.
    std::string
        shared_link;  // Where commands look without SLURM_CONF; empty for a --dir of one's own.
};

inline constexpr const char* kDefaultClusterName = "local";

// Refuses names that cannot be a folder and folders so long that socket names would not fit.
Result<Place> choose_place(const Wishes& wishes);

}  // namespace switchyard::cli
