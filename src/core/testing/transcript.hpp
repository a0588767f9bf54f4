// transcript.hpp: scenarios as text. A line that begins with "> " is something that happens; the
// indented lines behind it are what the core answered. play() runs the commands and returns the
// transcript as it came out; a scenario passes if that is the text itself, and a failure shows the
// difference in words.
//
// The commands are explained at the head of player.cpp; the scenarios are cluster/scenarios/*.txt.
#pragma once

#include <string>
#include <string_view>

namespace switchyard::core::testing {

// Begins what is said of a word that nobody knows.
inline constexpr std::string_view kMisunderstood = "?? ";

std::string play(std::string_view script);

}  // namespace switchyard::core::testing
