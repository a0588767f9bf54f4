// idle_gpus.hpp: which jobs hold cards and do not use them, as their nodes say.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {

class IdleGpus {
  public:
    // What a node says of a run: its cards stand idle since then, or do not. Since when all of its
    // cards do; none: some are in use.
    std::optional<Instant> heard(const Job& job, const std::string& node,
                                 std::optional<Instant> since);
    void observe(const Transition& transition) {
        if (transition.cause == Cause::Ended) idle_.erase(transition.job.id);
    }

  private:
    struct Idle {
        Attempt attempt;                       // In this run,
        std::map<std::string, Instant> nodes;  // since when on which node.
    };
    std::map<JobId, Idle> idle_;
};

}  // namespace switchyard::core
