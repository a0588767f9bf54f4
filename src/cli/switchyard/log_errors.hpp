// log_errors.hpp: the last complaints in a daemon's log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace switchyard::cli {

// The last lines with an error, oldest first. `from_middle`: the text begins within a line.
std::vector<std::string> errors_in(std::string_view log, std::size_t count, bool from_middle);
// Of a file, of which only the end is read.
std::vector<std::string> last_errors(const std::string& path, std::size_t count);

}  // namespace switchyard::cli
