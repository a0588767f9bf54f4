// launch.hpp: what srun has its nodes run: the command, its environment, streams and manners.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "options/job_request.hpp"

namespace switchyard::wire {
class StepLaunch;
}

namespace switchyard::cli {

struct Launchable {
    options::JobRequest request;
    std::vector<std::string> argv;
    std::vector<std::string> multi_prog = {};  // Lines of the --multi-prog file; argv names it.
    options::Surroundings world = {};          // As its component of the job around it sees them.
};

// --mpi=list, --cpu-bind=help, --mem-bind=help: prints it and returns true.
bool answered_list(const options::JobRequest& request);

// Completes and checks: there is a command, the kind of MPI is one we have, names and origin are
// filled in.
Status prepare(Launchable& what, const std::vector<std::string>& words);

// --async has no srun that could serve MPI.
Status check_async_mpi(const options::JobRequest& request, const config::Config& config);

void describe_launch(const Launchable& what, const config::Config& config,
                     wire::StepLaunch& launch);

}  // namespace switchyard::cli
