// free_index.hpp: finds the first node of a partition with enough free cores in logarithmic time.
//
// A tournament tree over the nodes in placement order; each inner place holds the greatest number
// of free cores below it. A full cluster of ten thousand nodes is recognised as full by one look at
// the root.
#pragma once

#include <cstdint>
#include <vector>

namespace switchyard::core::sched {

class FreeIndex {
  public:
    static constexpr std::uint32_t kNone = 0xffffffff;

    explicit FreeIndex(std::uint32_t places = 0);

    void set(std::uint32_t place, std::uint32_t free_cores);
    std::uint32_t greatest() const { return leaves_ == 0 ? 0 : tree_[1]; }
    // The first place at or behind `from` with at least `cores` free (and at least one), or kNone.
    std::uint32_t find(std::uint32_t from, std::uint32_t cores) const;
    std::uint32_t size() const { return places_; }

  private:
    std::uint32_t places_ = 0, leaves_ = 0;
    std::vector<std::uint32_t> tree_;  // Root at 1, leaves from leaves_.
};

}  // namespace switchyard::core::sched
