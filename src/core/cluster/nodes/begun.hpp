// begun.hpp: a script that has begun is not begun again in the same attempt, whatever becomes of
// controller, agent and spool.
//
// That it began is part of its record. It costs no commit of its own: most scripts are short, and
// their end is written anyway. What is left after kBegunWithin is written for all of them together.
// Until then the agent's list and journal know of it; only the loss of the controller and of the
// node's spool within that second would have it begun twice.
#pragma once

#include <set>

#include "core/cluster/world.hpp"

namespace switchyard::core {

// That scripts have begun is written for all of them together, so long after the first.
inline constexpr Seconds kBegunWithin{1};

class Begun {
  public:
    explicit Begun(World& world) : world_(world) {}

    void note(Job& job);
    void write();

  private:
    World& world_;
    std::set<JobId> unwritten_;  // Seen to begin, and perhaps not on disk yet.
};

bool has_begun(const Job& job);

}  // namespace switchyard::core
