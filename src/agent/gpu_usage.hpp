// gpu_usage.hpp: what each step did with the cards of its job, from looks at the cards.
//
// A process on a card belongs to the step it runs in. Where the driver names no process that we
// know (it may count them in another namespace), all that a card does is its holder's, if it has
// but one. What a look shows stands for the time since the look before it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/gpu_energy.hpp"
#include "agent/gpu_watch.hpp"
#include "base/ids.hpp"
#include "model/usage.hpp"

namespace switchyard::agent {

class GpuUsage {
  public:
    explicit GpuUsage(std::string node) : node_(std::move(node)) {}

    void add(const GpuSight& sight, const std::vector<StepCards>& steps);
    // "gres/gpuutil" in percent of one card, "gres/gpumem" in bytes, "energy" in joules,
    // "gres/gpupower" in watts; empty: it was never seen.
    model::StepUsage usage_of(const StepKey& key) const;

    // Drops all but these.
    void keep_only(const std::vector<StepKey>& keys);
    bool empty() const { return sums_.empty(); }
    // For the next agent, which goes on where this one stopped.
    std::string save() const;
    void load(std::string_view text);

  private:
    struct Part {
        std::uint64_t percent = 0, memory = 0;
    };
    struct Sum {
        Millis at{}, time{};             // Of the last look at it; that it was seen for.
        std::uint64_t percent = 0;       // At the last look.
        std::uint64_t percent_time = 0;  // Percent times milliseconds.
        std::uint64_t most_percent = 0, most_memory = 0;
        std::uint32_t task = 0;
    };

    std::map<StepKey, Part> parts_of(const GpuSight& sight,
                                     const std::vector<StepCards>& steps) const;

    std::string node_;
    std::map<StepKey, Sum> sums_;
    GpuEnergy energy_;
};

}  // namespace switchyard::agent
