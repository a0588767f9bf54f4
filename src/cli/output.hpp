// output.hpp: standard output of the views.
#pragma once

#include <string>
#include <string_view>

namespace switchyard::cli {

void print(std::string_view text);
std::string date_line();  // "Sun Nov 15 01:42:11 2026\n", above long lists.

}  // namespace switchyard::cli
