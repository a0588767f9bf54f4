// transition.hpp: a job goes from one phase to the next, and all who keep something about jobs hear
// of it (seam.cpp has the list).
#pragma once

#include <cstdint>

#include "model/job.hpp"

namespace switchyard::core {

// In the order of model::Job's phases; None: there is no record.
enum class Phase : std::uint8_t { Pending, Running, Suspended, Completing, Ended, None };

inline Phase phase_of(const model::Job& job) { return static_cast<Phase>(job.phase.index()); }

enum class Cause : std::uint8_t {
    Submitted,  // A new record, that waits.
    Split,      // The same, out of the block of its array.
    Started,
    Frozen,
    Thawed,
    RunOver,    // Its nodes are being cleaned.
    Left,       // Nothing of the run is left on any node; EpilogSlurmctld may be owed.
    Returns,    // The run is over, and the job comes back into the queue.
    Recurs,     // The same, because its crontab says so.
    Requeued,   // It waits again.
    Reopened,   // The same, of a job that was over for good.
    Ended,      // For good.
    Withdrawn,  // As if it had never been.
    Forgotten,  // Out of memory; the store has it as history.
};

struct Transition {
    model::Job& job;
    Phase before, after;
    Cause cause;
};

// Who keeps something about jobs hears of every change. Beside that an owner may have load(job),
// for a record out of the store; clear(), when nodes and partitions are described anew; and
// check().
template <class T>
concept Observer = requires(T& owner, const Transition& transition) { owner.observe(transition); };

}  // namespace switchyard::core
