// multi_prog.hpp: the file of srun --multi-prog: which task runs which program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace switchyard::cli {

// The lines of the file that say something: continued lines joined, comments and blank lines gone.
// The nodes choose from them for each task.
std::vector<std::string> multi_prog_lines(std::string_view file);

// Every task from 0 to task_count-1 must have a program.
Status check_multi_prog(const std::vector<std::string>& lines, std::uint32_t task_count,
                        std::string_view file_name);

}  // namespace switchyard::cli
