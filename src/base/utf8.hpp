// utf8.hpp: the characters of a text that is UTF-8, or mostly.
#pragma once

#include <cstddef>
#include <string_view>

namespace switchyard {

struct Character {
    std::size_t bytes = 1;
    char32_t code = 0;
    bool whole = true;  // False: a byte that is no part of UTF-8 here.
};

Character character_at(std::string_view text, std::size_t at);

}  // namespace switchyard
