// gpu_usage.hpp: what each step did with the cards of its job, from looks at the cards.
//
// A process on a card belongs to the step it runs in. Where the driver names no process that we
// know (it may count them in another namespace), all that a card does is its holder's, if it has
// but one.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <sys/types.h>

#include "agent/gpu_watch.hpp"
#include "base/ids.hpp"
#include "model/usage.hpp"

namespace switchyard::agent {

// A live step of a job that holds cards here.
struct StepCards {
    StepKey key;
    std::set<std::uint32_t> devices;
    bool shared = false;  // Only shares of them.
    std::set<pid_t> pids;
    std::uint32_t task = 0;  // The first of its ranks on this node.
};

class GpuUsage {
  public:
    explicit GpuUsage(std::string node) : node_(std::move(node)) {}

    void add(const GpuSight& sight, const std::vector<StepCards>& steps);
    // "gres/gpuutil" in percent of one card, "gres/gpumem" in bytes; empty: it was never seen.
    model::StepUsage usage_of(const StepKey& key) const;

  private:
    struct Sum {
        std::uint64_t percent = 0, looks = 0, most_percent = 0, most_memory = 0;
        std::uint32_t task = 0;
    };

    std::string node_;
    std::map<StepKey, Sum> sums_;
};

}  // namespace switchyard::agent
