// help.hpp: what --help, --usage and -v print, made from the option table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/job_request.hpp"

namespace switchyard::options {

std::string help_text(Command command);
std::string usage_text(Command command);
// The lines of -v between "defined options" and its end.
std::vector<std::string> defined_options(const JobRequest& request);

// For every command with options. One entry: its line as typed, and the help beside it, broken
// between words and indented under itself.
void append_help_entry(std::string& out, std::string line, std::string_view help);
// "Usage: name [-a] [-b]..." broken between the pieces.
std::string usage_of(std::string_view program, const std::vector<std::string>& pieces);

}  // namespace switchyard::options
