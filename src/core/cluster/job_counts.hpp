// job_counts.hpp: how many jobs there are, and became of what.
#pragma once

#include <cstddef>

#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {

class JobCounts {
  public:
    explicit JobCounts(World& world) : world_(world) {}

    void load(const Job& job);
    void observe(const Transition& transition);
    void check() const;
    std::size_t unfinished() const { return unfinished_; }

  private:
    void count_end(const Job& job);

    World& world_;
    std::size_t unfinished_ = 0;
};

}  // namespace switchyard::core
