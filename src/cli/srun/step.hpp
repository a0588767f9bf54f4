// step.hpp: asks the controller for a step inside a job, and waits while the job's resources
// are busy.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cli/submission/controller_link.hpp"
#include "model/job.hpp"
#include "model/step.hpp"
#include "options/job_request.hpp"

namespace switchyard::wire {
class StepLaunch;
}

namespace switchyard::cli {

struct MadeStep {
    model::Step step;
    model::Job job;
    // What was asked. Asked again of a controller that was restarted, it launches what was not
    // launched yet.
    std::shared_ptr<wire::Request> message;
    // The parts in other components of a heterogeneous job.
    struct Part {
        model::Step step;
        model::Job job;
    };
    std::vector<Part> more = {};
};
struct NoStep {
    int exit_code;
};

struct StepRequest {
    const options::JobRequest& request;
    JobId job;
    bool alone;  // The allocation is this srun's own.
    const wire::StepLaunch& launch;
    struct Part {
        const options::JobRequest& request;
        JobId job;
        std::shared_ptr<const wire::StepLaunch> launch;
    };
    std::vector<Part> more = {};
};

// Prints what there is to say on the way. A repeated request (the controller was restarted) finds
// the step that the first one made.
std::variant<MadeStep, NoStep> make_step(io::Loop& loop, ControllerLink& link,
                                         const StepRequest& request);

}  // namespace switchyard::cli
