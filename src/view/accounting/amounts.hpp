// amounts.hpp: numbers as the accounting commands print them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace switchyard::view {

struct Units {
    bool convert = true;        // --noconvert turns it off.
    std::optional<char> fixed;  // --units: one of KMGTP.
};

// A count of `unit`s (0 for single ones): "11716K", "4G", "30226". Without a fixed unit only what
// divides without a rest is converted.
std::string amount_text(std::uint64_t count, char unit, const Units& units);

// Joules and kilohertz: "1.23K", "5K", "999"; thousands, not 1024s, and rounded.
std::string thousands_text(std::uint64_t count, const Units& units);

// Processor time: "00:00.004", "00:01:05", "1-02:03:04".
std::string cpu_time_text(std::uint64_t micros);

// "cpu=1,mem=100M,node=1" from the order of scontrol into that of the database, with units.
std::string sorted_tres(std::string_view tres, bool with_billing, const Units& units);

}  // namespace switchyard::view
