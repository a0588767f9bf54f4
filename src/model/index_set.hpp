// index_set.hpp: a set of small numbers kept as intervals: cores of a node, elements of an array.
//
// An array of a million pending elements is one interval, and "0-7" is how people write cores.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.hpp"
#include "base/result.hpp"

namespace switchyard::model {

class IndexSet {
  public:
    struct Interval {
        std::uint32_t first;
        std::uint32_t last;  // Inclusive.
        bool operator==(const Interval&) const = default;
    };

    IndexSet() = default;
    static IndexSet range(std::uint32_t first, std::uint32_t last);
    // From intervals in any order, overlapping or not: one sort, where inserts would cost a square.
    static IndexSet from_intervals(std::vector<Interval> intervals);

    bool empty() const { return intervals_.empty(); }
    std::uint64_t size() const;
    bool contains(std::uint32_t index) const;
    std::uint32_t front() const;  // The smallest; the set must not be empty.
    std::uint32_t back() const;   // The largest.

    void insert(std::uint32_t index);
    void insert(Interval interval);
    void erase(std::uint32_t index);
    void insert(const IndexSet& other);
    void erase(const IndexSet& other);
    void erase(Interval interval);
    IndexSet intersection(const IndexSet& other) const;
    bool intersects(const IndexSet& other) const;
    // The `count` smallest (fewer if there are not so many).
    IndexSet first(std::uint64_t count) const;

    const std::vector<Interval>& intervals() const { return intervals_; }
    std::vector<std::uint32_t> to_vector() const;
    bool operator==(const IndexSet&) const = default;

  private:
    std::vector<Interval> intervals_;  // Sorted, disjoint, not adjacent.
};

// "0-3,7"; an empty set is "". Ranges with a step ("0-8:2") are read, and printed as plain members.
// At most so many intervals, before those that touch are joined.
Result<IndexSet> parse_index_set(std::string_view text,
                                 std::size_t intervals_max = limits::kIndexSetIntervalsMax);
std::string to_string(const IndexSet& set);

}  // namespace switchyard::model
