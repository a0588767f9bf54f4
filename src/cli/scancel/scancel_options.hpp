// scancel_options.hpp: what scancel was asked for, from its command line and the SCANCEL_*
// environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/client.hpp"

namespace switchyard::cli {

struct ScancelOptions {
    model::JobFilter filter;
    client::SignalOptions signal;
    bool interactive = false, quiet = false;
    int verbose = 0;
    std::string clusters;
};

struct ScancelParsed {
    ScancelOptions options;
    std::optional<int> exit_code;
};
ScancelParsed parse_scancel(int argc, char** argv);

}  // namespace switchyard::cli
