// help_squeue.hpp: the texts squeue answers questions about itself with.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace switchyard::cli {

std::string squeue_usage();
std::string squeue_help();
std::string squeue_help_states();
std::string squeue_help_format();
std::span<const std::string_view> state_names();  // "pending", "running", ...

// Names in four columns of 20, as --helpFormat prints them.
std::string in_four_columns(std::span<const std::string_view> names);

}  // namespace switchyard::cli
