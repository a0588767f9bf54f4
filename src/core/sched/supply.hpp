// supply.hpp: the cores and cards of a whole partition that are free over time.
//
// A job that may be spread over any nodes cannot begin before the partition has all that it needs
// for as long as it stays. To find that moment costs one walk along the sums; only there, and
// behind it, nodes have to be looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/sched/outlook.hpp"

namespace switchyard::core::sched {

class Supply {
  public:
    struct Amounts {
        std::int64_t cores = 0, gpus = 0;
        bool covers(const Amounts& need) const { return cores >= need.cores && gpus >= need.gpus; }
    };

    // As somebody with this key sees it.
    Supply(const NodePool& pool, PartitionIndex partition, Outlook& outlook, const QueueKey& key);

    // A place was kept on a node of the partition.
    void take(Instant from, Instant until, Amounts amounts);
    // The first moment, at or behind `from`, from which so much is there for so long: `from` itself
    // or one at which some node gets more.
    std::optional<Instant> first_with(const Amounts& need, Instant from, Seconds length) const;
    // The next moment at which some node gets more.
    std::optional<Instant> next_growth(Instant behind) const;

  private:
    struct Slot {
        Instant from{};
        Amounts free;
        bool grows = false;
    };
    std::size_t at(Instant moment) const;
    std::size_t split(Instant moment);

    std::vector<Slot> slots_;
};

// The cards among the amounts of a node.
std::uint32_t gpus_in(const NodeEntry& node, const Room& room);

}  // namespace switchyard::core::sched
