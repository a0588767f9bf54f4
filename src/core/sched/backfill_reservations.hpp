// backfill_reservations.hpp: places kept for jobs that wait: on which node, from when until when,
// and how much of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "base/packed_set.hpp"
#include "base/time.hpp"
#include "core/sched/order.hpp"
#include "core/sched/room.hpp"

namespace switchyard::core::sched {

struct Reserved {
    QueueKey key;  // Only jobs behind it must respect it.
    JobId job;
    Instant from{}, until{};
    Room room;
    bool whole = false;
    std::uint32_t owner = 0;  // In which reservation of an administrator (windows.hpp).
    bool operator==(const Reserved&) const = default;
};

// A plan, made or in the making. Each node is known by its places in the partitions.
class BackfillReservations {
  public:
    using Places = std::vector<std::pair<PartitionIndex, std::uint32_t>>;
    using Ends = PackedSet<std::pair<Instant, std::uint32_t>>;  // (until, place)

    BackfillReservations(std::size_t nodes, std::size_t partitions)
        : nodes_(nodes), ends_(partitions) {}

    void add(NodeIndex node, const Places& places, Reserved reserved);
    void drop(NodeIndex node, const Places& places, JobId job);

    std::span<const Reserved> on(NodeIndex node) const { return nodes_[node].reserved; }
    std::uint32_t version(NodeIndex node) const { return nodes_[node].version; }
    // When places become free again, by partition.
    const Ends& ends(PartitionIndex partition) const { return ends_[partition]; }
    // Whoever stands behind this must respect all of them.
    const std::optional<QueueKey>& last_key() const { return last_key_; }
    std::size_t node_count() const { return nodes_.size(); }
    std::uint64_t changes() const { return changes_; }
    // What was added, in order, since the last place was dropped; and how often that was.
    struct Added {
        NodeIndex node;
        std::uint32_t at;  // Among those on the node.
    };
    std::span<const Added> added() const { return added_; }
    std::uint64_t drops() const { return drops_; }

  private:
    struct OnNode {
        std::vector<Reserved> reserved;
        std::uint32_t version = 0;
    };
    std::vector<OnNode> nodes_;
    std::vector<Ends> ends_;
    std::optional<QueueKey> last_key_;
    std::vector<Added> added_;
    std::uint64_t changes_ = 0, drops_ = 0;
};

}  // namespace switchyard::core::sched
