// help_sinfo.hpp: the texts sinfo answers questions about itself with.
#pragma once

#include <string>

namespace switchyard::cli {

std::string sinfo_usage();
std::string sinfo_help();

}  // namespace switchyard::cli
