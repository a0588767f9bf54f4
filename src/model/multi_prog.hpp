// multi_prog.hpp: srun --multi-prog: a file that says which program runs as which task.
//
// A line is "1-3,5 echo task %t, number %o of its line": %t is the task, %o its offset within the
// line's range; "*" is every task not named so far. Quotes group, '#' starts a comment, a backslash
// at the end of a line continues it. srun cuts the file into lines, the nodes choose from them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace switchyard::model {

// Whole lines: continued ones joined, comments and blank ones gone.
std::vector<std::string> multi_prog_lines(std::string_view file);

// Every task from 0 to task_count-1 must have a program.
Status check_multi_prog(const std::vector<std::string>& lines, std::uint32_t task_count,
                        std::string_view file_name);

// The command line of one task; NotFound if no line names it.
Result<std::vector<std::string>> multi_prog_command(const std::vector<std::string>& lines,
                                                    std::uint32_t task);

}  // namespace switchyard::model
