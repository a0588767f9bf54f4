// world.hpp: the clock, what happens when, and the trace. Everything in a simulation is an action
// at an instant.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/time.hpp"
#include "sim/random.hpp"

namespace switchyard::sim {

class World {
  public:
    World(std::uint64_t seed, bool tracing) : random(seed), tracing_(tracing) {}

    Instant now() const { return now_; }
    void after(Millis delay, std::function<void()> action) { at(now_ + delay, std::move(action)); }
    void at(Instant when, std::function<void()> action);
    // Runs everything due by `end`; false when nothing is left before it.
    void run_until(Instant end);

    template <class... Args>
    void trace(fmt::format_string<Args...> text, Args&&... args) {
        if (tracing_) write(fmt::format(text, std::forward<Args>(args)...));
    }

    Random random;

  private:
    void write(const std::string& line) const;

    bool tracing_;
    Instant now_ = from_unix_seconds(1000000);
    std::uint64_t sequence_ = 0;
    std::map<std::pair<Instant, std::uint64_t>, std::function<void()>> actions_;
};

// A broken promise: says which and stops; the caller has printed the seed.
[[noreturn]] void violated(const std::string& what);

}  // namespace switchyard::sim
