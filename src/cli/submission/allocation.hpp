// allocation.hpp: asks for an allocation and waits for it, as salloc does, and srun when it runs
// alone.
#pragma once

#include <optional>
#include <variant>

#include "cli/submission/controller_link.hpp"
#include "model/job.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

struct Allocated {
    model::Job job;
    std::vector<model::Job> more = {};  // The other components.
    bool announced = false;  // It was said that it was granted, before its nodes were ready.
};
struct NoAllocation {
    int exit_code;
};

// Prints what there is to say on the way. A signal while it waits gives the request up.
// `components`: those of a heterogeneous job after the first.
std::variant<Allocated, NoAllocation> obtain_allocation(
    io::Loop& loop, ControllerLink& link, const options::JobRequest& request,
    const std::vector<const options::JobRequest*>& components = {});

// After the connection was lost: tells the controller that the owner of this allocation is still
// there.
void attach(ControllerLink& link, JobId job);

// "n[1-2]"
std::string node_list(const model::Job& job);

}  // namespace switchyard::cli
