// world.cpp: see world.hpp.

#include "sim/world.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace switchyard::sim {

void World::at(Instant when, std::function<void()> action) {
    actions_.emplace(std::pair(when, ++sequence_), std::move(action));
}

void World::run_until(Instant end) {
    while (!actions_.empty() && actions_.begin()->first.first <= end) {
        const auto first = actions_.begin();
        if (first->first.first > now_) now_ = first->first.first;
        const std::function<void()> action = std::move(first->second);
        actions_.erase(first);
        action();
    }
    if (end > now_) now_ = end;
}

void World::write(const std::string& line) const {
    const auto elapsed = now_ - from_unix_seconds(1000000);
    std::printf("%9.3f %s\n", static_cast<double>(elapsed.count()) / 1000.0, line.c_str());
}

void violated(const std::string& what) {
    std::fflush(stdout);
    std::fprintf(stderr, "PROMISE BROKEN: %s\n", what.c_str());
    std::abort();
}

}  // namespace switchyard::sim
