// streams.hpp: where standard input comes from and output goes to: what -i, -o and -e mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "model/output_pattern.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

struct Stream {
    enum class Kind : std::uint8_t {
        Through,    // By srun, from and to its own streams.
        None,       // /dev/null.
        OneTask,    // By srun, one task only.
        LocalFile,  // By srun, from and to a file that srun opens.
        OnNodes,    // Files that the nodes open, one for each task or node.
    };
    Kind kind = Kind::Through;
    std::uint32_t task = 0;
    std::string pattern;
    bool operator==(const Stream&) const = default;
};

struct Streams {
    Stream in, out, err;
    bool err_with_out = false;  // Both go to the same place.
};

Streams plan_streams(const options::LaunchSettings& launch);

// What the nodes are told: the pattern they open, or "" for what passes through srun. One that
// does not stay opens none itself.
std::string pattern_for_nodes(const Stream& stream, bool srun_stays);

}  // namespace switchyard::cli
