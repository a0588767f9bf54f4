// append_in_place.hpp: bytes written straight behind a string, whose number is known afterwards.
#pragma once

#include <cstddef>
#include <string>

namespace switchyard {

// `put` is given where to write, at most `bytes_max`, and returns where it ended.
template <class Put>
void append_in_place(std::string& out, std::size_t bytes_max, Put put) {
    const std::size_t before = out.size();
    // The size that is handed on is not looked at: libstdc++ 12 gives the capacity.
    out.resize_and_overwrite(before + bytes_max, [&](char* begin, std::size_t) {
        return static_cast<std::size_t>(put(begin + before) - begin);
    });
}

}  // namespace switchyard
