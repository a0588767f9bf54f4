// free_index.hpp: finds the first node of a partition with enough left, without a look at those
// that have not.
//
// A tournament tree over the nodes in placement order; each inner place holds the most of each
// thing that any node below it has. A full cluster of ten thousand nodes is recognised as full by
// one look at the root, and so is one that has cores but no memory, or nodes that are free only
// until somebody else's turn comes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.hpp"

namespace switchyard::core::sched {

// What a node can give now.
struct Capacity {
    std::uint32_t cores = 0, gpus = 0;
    std::uint64_t memory = 0;
    bool idle = false;
    // Nobody ahead is promised any of it before this moment; beyond it, so many cores are left.
    Instant until = Instant::max();
    std::uint32_t cores_beside = 0;
    bool operator==(const Capacity&) const = default;
};

// What a job needs of a node at least. A node that has it may still be of no use.
struct Least {
    std::uint32_t cores = 1, gpus = 0;
    std::uint64_t memory = 0;
    bool idle = false;
    bool heeds = false;  // It stands behind everybody who was promised anything,
    Instant end{};       // and would be gone by then.
};

class FreeIndex {
  public:
    static constexpr std::uint32_t kNone = 0xffffffff;

    explicit FreeIndex(std::uint32_t places = 0);

    void set(std::uint32_t place, const Capacity& capacity);
    std::uint32_t most_cores() const { return leaves_ == 0 ? 0 : tree_[1].cores; }
    std::uint64_t total_cores() const { return total_cores_; }
    // The first place at or behind `from` that has it (and at least one core), or kNone.
    std::uint32_t find(std::uint32_t from, const Least& least) const;
    std::uint32_t size() const { return places_; }

  private:
    std::uint32_t places_ = 0, leaves_ = 0;
    std::uint64_t total_cores_ = 0;
    std::vector<Capacity> tree_;  // Root at 1, leaves from leaves_.
};

}  // namespace switchyard::core::sched
