// bottlenecks.hpp: on each node a moment at which a plan leaves few cores; one glance for a job
// that would stay beyond it.
//
// Nodes with free cores are looked at for every kind of job that waits, and most are refused for
// the same reason: a place is kept there that begins before the job would be done.
#pragma once

#include <cstdint>
#include <vector>

#include "core/sched/outlook.hpp"

namespace switchyard::core::sched {

class Bottlenecks {
  public:
    // The plan must outlive it, and only grow in between two calls of forget().
    explicit Bottlenecks(const BackfillReservations& reserved) : reserved_(reserved) {}

    // Holders came or went.
    void forget();
    // Takes in the places that were kept since the last time for jobs ahead of this key.
    void take_in(Outlook& outlook, const QueueKey& key);

    // True: whoever has this key will not have so many cores of the node all that time.
    bool stop(NodeIndex node, std::uint32_t cores, Instant from, Instant until,
              const QueueKey& key) const {
        if (rows_.empty()) return false;
        const Row& row = rows_[node];
        return cores > row.cores && from <= row.at && row.at < until && !(key < row.key);
    }

  private:
    struct Row {
        Instant at = Instant::max();
        std::uint32_t cores = UINT32_MAX;
        QueueKey key;  // Who stands here or behind must heed all that it was made of.
    };

    const BackfillReservations& reserved_;
    std::vector<Row> rows_;  // By node.
    std::size_t known_ = 0;  // Places.
    std::uint64_t drops_ = 0;
};

}  // namespace switchyard::core::sched
