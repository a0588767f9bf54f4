// key_values.hpp: the pairs that tasks put and get, and how they travel.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace switchyard::pmi {

using KeyValues = std::map<std::string, std::string, std::less<>>;

std::string encode(const KeyValues& pairs);
// InvalidArgument: not what encode() makes.
Status decode_into(std::string_view bytes, KeyValues& pairs);

}  // namespace switchyard::pmi
