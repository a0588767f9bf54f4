// hostlist.hpp: "gpu[01-03,7],login1" and the names it stands for.
//
// Width is kept (n[001-010]), several bracket groups multiply (r[1-2]n[1-4]), the order of the
// expression is the order of the names, duplicates stay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace switchyard::model {

// Items are separated by commas or blanks; of nothing, nothing. InvalidNodeName for a malformed
// expression or one of more than limits::kHostlistNamesMax names.
Result<std::vector<std::string>> expand_hostlist(std::string_view expression);

// A short expression that expands to the same names in the same order. Neighbouring names with one
// prefix fold on the number they end with: n1,n2,n4 -> n[1-2,4]; n3,n1,n2 -> n[3,1-2]; a1b,a2b stay
// as they are.
std::string compress_hostlist(const std::vector<std::string>& names);

// As people sort: n2 before n10. Removes duplicates.
std::vector<std::string> sort_hostnames(std::vector<std::string> names);
// The order behind sort_hostnames.
bool hostname_less(std::string_view a, std::string_view b);

}  // namespace switchyard::model
