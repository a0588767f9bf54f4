// script.hpp: batch scripts: what makes one acceptable, and the #SBATCH lines at its head.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "options/job_request.hpp"

namespace switchyard::options {

// One #SBATCH line, as words.
struct Directive {
    std::size_t line = 0;  // Counted from 1.
    std::vector<std::string> words;
    bool operator==(const Directive&) const = default;
};

// The #SBATCH lines before the first line that is neither blank nor a comment.
std::vector<Directive> scan_directives(std::string_view script);

// The words of a line: blanks separate, quotes and backslashes protect, a '#' at the start of a
// word ends it.
std::vector<std::string> split_words(std::string_view line);

// Slurm's complaints about a script that cannot be one; several lines of text, each to be printed
// by itself.
struct ScriptFault {
    std::vector<std::string> lines;
};
std::optional<ScriptFault> check_script(std::string_view script);

// "#!/bin/sh" and the command of --wrap.
std::string wrap_script(std::string_view command);

}  // namespace switchyard::options
