// questions.hpp: options that ask about the command itself.
#pragma once

#include <optional>

#include "options/job_request.hpp"

namespace switchyard::cli {

// --help, --usage, --version, --hint=help, --gres=help: prints it and returns the exit code;
// nullopt: nothing of that was asked.
std::optional<int> answered_help(const options::JobRequest& request);

}  // namespace switchyard::cli
