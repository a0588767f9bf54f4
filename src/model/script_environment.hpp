// script_environment.hpp: what the site's programs around a job are told of it: Prolog and Epilog
// on its nodes, PrologSlurmctld and EpilogSlurmctld beside the controller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "model/job.hpp"

namespace switchyard::model {

struct ScriptFacts {
    JobId job;
    std::uint32_t uid = 0, gid = 0;
    std::string user = {}, cluster = {}, config_path = {};
    std::string_view context = {};  // "prolog_slurmd": which of the programs it is.
};

// "NAME=value", without what only a node knows. `record` is null where it could not be read.
std::vector<std::string> script_environment(const ScriptFacts& facts, const Job* record);

}  // namespace switchyard::model
