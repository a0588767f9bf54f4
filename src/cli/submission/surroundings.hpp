// surroundings.hpp: what sbatch, salloc and srun find around them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/export.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

// Descriptors 0 to 2 are open, if only to /dev/null: nothing else of ours gets their numbers.
void open_standard_streams();
options::Surroundings look_around();
std::vector<std::string> words_of(int argc, char** argv, options::Command command);

// The caller's environment without what describes a job around it.
options::Environment environment_for_a_new_job(options::Environment environment);

std::string short_host_name();
std::string base_name(std::string_view path);

}  // namespace switchyard::cli
