// batch_environment.hpp: the environment that a batch job starts with, as --export, --export-file
// and
// --get-user-env have it.
#pragma once

#include "base/result.hpp"
#include "options/export.hpp"
#include "options/job_request.hpp"

namespace switchyard::cli {

Result<options::Environment> batch_environment(const options::JobRequest& request,
                                               options::Surroundings surroundings);

// What a login shell of this user has in its environment. Timeout if its start-up files take longer
// than `wait`.
Result<options::Environment> login_environment(Seconds wait, bool login);

}  // namespace switchyard::cli
