// batch_script.hpp: the script that sbatch submits: found, read, checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options/job_request.hpp"

namespace switchyard::cli {

struct BatchScript {
    std::string text;
    std::string path;          // Absolute; empty for standard input and --wrap.
    std::string default_name;  // Of the job.
    std::vector<std::string> arguments;
};

// `operands`: the words after sbatch's own options. Complaints are printed; none: exit with
// error_exit_code().
std::optional<BatchScript> obtain_script(const options::JobRequest& request,
                                         const std::vector<std::string>& operands,
                                         const options::Surroundings& surroundings);

}  // namespace switchyard::cli
