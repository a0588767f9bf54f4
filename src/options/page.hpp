// page.hpp: what becomes of every option, as the page docs/options.md. Made from the table, so that
// the page cannot say otherwise; a test compares them.
#pragma once

#include <string>

#include "options/option.hpp"

namespace switchyard::options {

enum class Fate { Works, InPart, Warned, Refused };
Fate fate_of(const Option& option);

std::string options_page();

}  // namespace switchyard::options
