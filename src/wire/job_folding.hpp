// job_folding.hpp: jobs folded into their messages. The bytes are those that the store holds and
// that a list of jobs is made of.
#pragma once

#include <memory>

#include "model/job_folding.hpp"

namespace switchyard::wire {

std::unique_ptr<const model::JobFolding> make_job_folding();

}  // namespace switchyard::wire
