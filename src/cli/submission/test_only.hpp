// test_only.hpp: --test-only: when a job would start, and where. Nothing is submitted.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "options/job_request.hpp"

namespace switchyard::wire {
class Reply;
class Request;
}  // namespace switchyard::wire

namespace switchyard::cli {

// How a request reaches the controller, and the lines it sends along with a refusal.
struct Asking {
    std::function<Result<wire::Reply>(wire::Request&)> call;
    std::function<std::vector<std::string>()> notes;
};

// Each component is asked about by itself, as if the others were not. srun tells of every one;
// sbatch tells of all in one line: the latest start, the processors and nodes together. The exit
// code.
int tell_starts(options::Command command, const std::vector<const options::JobRequest*>& components,
                const Asking& asking);

}  // namespace switchyard::cli
