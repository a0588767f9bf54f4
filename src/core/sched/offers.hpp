// offers.hpp: nodes that have got room, each held out to the shapes that wait, foremost job first.
//
// An offer is made on a glance; whether the node truly serves anybody is found out only when it is
// that job's turn. Most never come to their turn, for the room is taken before. What a pass has no
// time for waits for the next one: to begin anew would be to tell the same jobs no for ever.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "core/sched/node_entry.hpp"
#include "core/sched/order.hpp"

namespace switchyard::core::sched {

// One shape in a partition that a node may have room for.
struct Offer {
    QueueKey key;  // No job ahead of this one may take it up.
    NodeIndex node = 0;
    PartitionIndex partition = 0;
    std::uint32_t shape_id = 0;
    std::uint32_t cores = 0;  // What is needed at least.
    std::uint64_t memory = 0;
    friend bool operator>(const Offer& a, const Offer& b) {
        return b.key < a.key || (a.key == b.key && a.partition > b.partition);
    }
};

class Offers {
  public:
    void add(const std::vector<Offer>& offers);
    // The same of nodes that have got more room: what is still on offer there is forgotten.
    void renew(const std::vector<Offer>& offers);
    void clear();
    bool empty() const { return turns_.empty(); }
    const QueueKey& first_key() const { return std::get<0>(*turns_.begin()); }
    Offer take_first();
    // So much is left on the node: who needs more is told no.
    void keep(NodeIndex node, const Room& left);

  private:
    using Turn = std::tuple<QueueKey, PartitionIndex, NodeIndex>;
    static Turn turn_of(const std::vector<Offer>& heap) {
        return {heap.front().key, heap.front().partition, heap.front().node};
    }

    std::map<NodeIndex, std::vector<Offer>> nodes_;  // Heaps, none empty.
    std::set<Turn> turns_;                           // Of the first on each node.
};

}  // namespace switchyard::core::sched
