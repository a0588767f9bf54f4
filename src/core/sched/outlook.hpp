// outlook.hpp: the lines of all nodes beside one plan, each made when it is first looked at and
// kept in step with the plan and the pool.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "core/sched/node_line.hpp"
#include "core/sched/node_pool.hpp"

namespace switchyard::core::sched {

class Outlook {
  public:
    // The pool and the plan must outlive it; both may change.
    Outlook(const NodePool& pool, const BackfillReservations& reserved, Instant now, Instant from)
        : pool_(pool), reserved_(reserved), now_(now), from_(from) {}

    // As somebody with this key sees it: beside the places of those ahead. Good until the next call
    // for the same node.
    const NodeLine& line(NodeIndex node, const QueueKey& key);
    Instant from() const { return from_; }
    Instant now() const { return now_; }
    const BackfillReservations& plan() const { return reserved_; }

  private:
    struct Known {
        NodeLine line;
        bool made = false;
        std::uint32_t node_version = 0, plan_version = 0;
        std::size_t places = 0;         // Of the plan's, looked at so far.
        std::optional<QueueKey> last;   // Of those that were taken off,
        std::optional<QueueKey> first;  // and of those that were not, being behind.
    };
    Known& known(NodeIndex node);
    bool is_current(const Known& known, NodeIndex node, const QueueKey& key) const;

    const NodePool& pool_;
    const BackfillReservations& reserved_;
    Instant now_, from_;
    std::vector<std::uint32_t> numbers_;  // By node: which of the known it is, from 1; 0: none.
    std::deque<Known> known_;
};

}  // namespace switchyard::core::sched
