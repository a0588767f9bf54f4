// live_usage.hpp: what the running steps of a job use, as its nodes see it at the moment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "model/usage.hpp"

namespace switchyard::cli {

struct LiveSteps {
    std::map<StepKey, model::StepUsage> usage;
    std::map<StepId, std::vector<std::string>> pids;
};

// Either what they use, or which processes they are.
Status ask_nodes(client::Connection& connection, const model::Job& job, bool pids, LiveSteps& to);

}  // namespace switchyard::cli
