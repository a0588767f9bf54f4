// folded_job.hpp: what a list needs to know of a job that is folded (wire/job_folding.hpp), read
// from its bytes. Most jobs of a long list are never decoded here: the bytes in which they are kept
// are those that are sent.
#pragma once

#include <string_view>

namespace switchyard::controller {

struct FoldedJob {
    bool pending = false, running = false, ended = false;
    bool in_array = false;
    std::string_view partition;
};
FoldedJob look_at_folded(std::string_view job);

}  // namespace switchyard::controller
