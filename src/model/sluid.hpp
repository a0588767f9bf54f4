// sluid.hpp: the name of a job that no other job has, here or in any other cluster, and that sorts
// by the moment of submission: "s3YNM7EE0MDQ00". Made from what the record keeps, it needs no room
// in it and is the same after every restart.
#pragma once

#include <string>
#include <string_view>

#include "model/job.hpp"

namespace switchyard::model {

std::string sluid_of(const Job& job, std::string_view cluster);

}  // namespace switchyard::model
