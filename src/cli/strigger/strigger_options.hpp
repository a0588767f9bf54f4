// strigger_options.hpp: the command line of strigger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "cli/option_table.hpp"
#include "model/trigger.hpp"

namespace switchyard::cli {

struct TriggerOptions {
    bool set = false, get = false, clear = false;
    std::vector<model::TriggerType> types;
    bool controller = false;  // An event of the controller, not of nodes or jobs.
    bool node = false;        // -n, with or without names.
    std::vector<std::string> nodes;
    std::optional<JobId> job;
    std::optional<std::uint32_t> id, uid;
    Seconds offset{0};
    std::string program, clusters;
    bool permanent = false, header = true, quiet = false;
    int verbose = 0;
};

// An exit code when there is nothing more to do: help was given, or something is wrong and was
// said.
Taken parse_trigger_options(int argc, char** argv, TriggerOptions& options);

}  // namespace switchyard::cli
