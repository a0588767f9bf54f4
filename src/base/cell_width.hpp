// cell_width.hpp: how many cells of a terminal a text takes. Chinese characters and their like take
// two, marks that stand on another character none. Lists are aligned by cells, and no character is
// cut in half.
#pragma once

#include <cstddef>
#include <string_view>

namespace switchyard {

std::size_t cell_width(std::string_view text);
// The longest beginning that takes at most so many cells.
std::string_view fit_to_cells(std::string_view text, std::size_t cells);

}  // namespace switchyard
