// help.hpp: what --help, --usage and -v print, made from the option table.
#pragma once

#include <string>
#include <vector>

#include "options/job_request.hpp"

namespace switchyard::options {

std::string help_text(Command command);
std::string usage_text(Command command);
// The lines of -v between "defined options" and its end.
std::vector<std::string> defined_options(const JobRequest& request);

}  // namespace switchyard::options
