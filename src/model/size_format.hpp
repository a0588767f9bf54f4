// size_format.hpp: amounts of memory. The unit of the house is MiB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace switchyard::model {

struct MiB {
    std::uint64_t value = 0;
    auto operator<=>(const MiB&) const = default;
};
inline MiB operator+(MiB a, MiB b) { return {a.value + b.value}; }
inline MiB operator-(MiB a, MiB b) { return {a.value - b.value}; }
inline MiB operator*(MiB a, std::uint64_t n) { return {a.value * n}; }
inline MiB& operator+=(MiB& a, MiB b) { return a = a + b; }
inline MiB& operator-=(MiB& a, MiB b) { return a = a - b; }

// "4000", "4000M", "32G", "32GB", "1T", "512K" (rounded up); upper or lower case. A plain number is
// MiB.
Result<MiB> parse_memory(std::string_view text);

// As scontrol and squeue print it: "100M", "4G", "32G", "1500M" (exact; the largest unit that
// divides).
std::string format_memory(MiB amount);

// A count with a K, M, G suffix, as --array, MaxNodes and gres counts allow: "4K" is 4096.
Result<std::uint64_t> parse_count(std::string_view text);

}  // namespace switchyard::model
