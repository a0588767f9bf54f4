// parse.hpp: from words, variables and script lines to a JobRequest.
//
// A command applies its sources from the weakest to the strongest: script lines, input variables,
// command line; then finish() fills what follows from the rest.
#pragma once

#include <string>
#include <vector>

#include "options/job_request.hpp"
#include "options/script.hpp"

namespace switchyard::options {

// Options of a command line; `words` has the command's name first. Parsing ends at the first word
// that is no option; `*operands_at` is its index.
Outcome apply_words(JobRequest& request, const std::vector<std::string>& words, Source source,
                    const Surroundings& surroundings, std::size_t* operands_at);

// SBATCH_*, SALLOC_* or SLURM_* and SRUN_* input variables.
Outcome apply_environment(JobRequest& request, const Surroundings& surroundings);

// The #SBATCH lines of a script.
Outcome apply_script(JobRequest& request, const std::vector<Directive>& directives,
                     const Surroundings& surroundings);

// What follows from several options together.
Outcome finish(JobRequest& request, const Surroundings& surroundings);

// What srun asks of an allocation that exists. `alone`: it was made by this very srun, so the step
// takes it all.
model::StepSpec step_spec(const JobRequest& request, bool alone);

}  // namespace switchyard::options
