// field_help.hpp: what squeue says of its states and fields.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace switchyard::cli {

std::string squeue_help_states();
std::string squeue_help_names();
std::string squeue_help_letters();
std::span<const std::string_view> state_names();  // "pending", "running", ...

// Names in four columns of 20, as --helpFormat prints them.
std::string in_four_columns(std::span<const std::string_view> names);

// Letters in eight columns, each behind its '%', as --helpformat prints them.
std::string in_eight_columns(std::string_view letters);

}  // namespace switchyard::cli
