// amount_text.hpp: amounts as Slurm shortens them: in the largest unit that holds them in whole
// halves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace switchyard::view {

// `units` are the letters from that of the amount on: (1536, "MGT") is "1.50G", (1500, "MGT") is
// "1500M".
std::string short_amount(std::uint64_t count, std::string_view units);

// "cpu=1,mem=1536M,node=1" with its memory shortened so.
std::string shown_tres(std::string_view tres);

}  // namespace switchyard::view
