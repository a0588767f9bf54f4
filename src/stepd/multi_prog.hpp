// multi_prog.hpp: srun --multi-prog: a file that says which program runs as which task.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace switchyard::stepd {

// The command line of one task: "1-3,5 echo task %t, number %o of its line" with %t replaced by the
// task and %o by its offset within the line's range; "*" is every task not named so far. Quotes
// group, '#' starts a comment, a backslash at the end of a line continues it. NotFound if no line
// names the task.
Result<std::vector<std::string>> multi_prog_command(const std::vector<std::string>& lines,
                                                    std::uint32_t task);

}  // namespace switchyard::stepd
