// allocation.hpp: asks for an allocation and waits for it, as salloc does, and srun when it runs
// alone.
#pragma once

#include <optional>
#include <variant>

#include "cli/submit/controller_link.hpp"
#include "model/job.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli::submit {

struct NoAllocation {
    int exit_code;
};

// Prints what there is to say on the way. A signal while it waits gives the request up.
std::variant<model::Job, NoAllocation> obtain_allocation(io::Loop& loop, ControllerLink& link,
                                                         const options::JobRequest& request);

// After the connection was lost: tells the controller that the owner of this allocation is still
// there.
void attach(ControllerLink& link, JobId job);

// "n[1-2]"
std::string node_list(const model::Job& job);

}  // namespace switchyard::cli::submit
