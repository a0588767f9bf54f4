// time.hpp: the two time types of the house. Code that decides is handed `now`; it never asks.
#pragma once

#include <chrono>
#include <cstdint>

namespace switchyard {

using Millis = std::chrono::milliseconds;
using Seconds = std::chrono::seconds;
using Minutes = std::chrono::minutes;

// A moment of wall-clock time, to the millisecond.
using Instant = std::chrono::sys_time<Millis>;

inline std::chrono::sys_seconds whole_seconds(Instant t) { return std::chrono::floor<Seconds>(t); }
inline std::int64_t unix_seconds(Instant t) { return whole_seconds(t).time_since_epoch().count(); }
inline Instant from_unix_seconds(std::int64_t s) { return Instant{Seconds{s}}; }

}  // namespace switchyard
