// ids.hpp: an id is a type. A JobId cannot be passed where a step id belongs.
#pragma once

#include <compare>
#include <cstdint>

namespace switchyard {

struct JobId {
    std::uint32_t value = 0;
    auto operator<=>(const JobId&) const = default;
};

// Which run of the job: 0 at first, one more with each requeue. Every message between controller
// and node carries it, so a report of a run that is over is recognised as late.
struct Attempt {
    std::uint32_t value = 0;
    auto operator<=>(const Attempt&) const = default;
};

struct StepId {
    std::uint32_t value = 0;
    auto operator<=>(const StepId&) const = default;
};

// The steps that are not srun's. Their numbers are those that Slurm puts into SLURM_STEP_ID (-5).
inline constexpr StepId kBatchStep{0xfffffffb};
inline constexpr StepId kExternStep{0xfffffffc};
inline constexpr StepId kInteractiveStep{0xfffffffa};

// One step of one run of one job: what a stepd is the owner of.
struct StepKey {
    JobId job;
    Attempt attempt;
    StepId step;
    auto operator<=>(const StepKey&) const = default;
};

}  // namespace switchyard
