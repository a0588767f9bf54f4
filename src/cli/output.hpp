// output.hpp: standard output of the views, and answers from standard input.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace switchyard::cli {

void print(std::string_view text);
std::optional<std::string> read_line();  // Without its end; none when there is no more.
std::string date_line();                 // "Sun Nov 15 01:42:11 2026\n", above long lists.

}  // namespace switchyard::cli
