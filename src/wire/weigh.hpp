// weigh.hpp: what a message would cost, told from its bytes before it is decoded. Two bytes of a
// frame can become kilobytes of a message: an empty part of a long list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace switchyard::wire {

// The fields of the message and of all that could be messages inside it; no further than `most`.
// The kinds of fields are not known here: bytes that happen to read as a message count as one.
std::size_t count_fields(std::string_view message, std::size_t most);

// How often the last field of `path` occurs in the messages that the fields before it lead to:
// {10, 50} are the fields 50 of the message in field 10.
std::size_t count_repeated(std::string_view message, std::span<const std::uint32_t> path);

}  // namespace switchyard::wire
