// timer_heap.hpp: a binary heap whose members know their place, so that a timer that is cancelled
// (most of them are) leaves at once and the heap holds only what is still wanted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace switchyard::io {

// What a member of the heap must have: when it is due, in which order it was added, and its place.
struct TimerNode {
    static constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);
    std::int64_t due = 0;
    std::uint64_t sequence = 0;
    std::size_t place = kNowhere;

    bool before(const TimerNode& other) const {
        return due != other.due ? due < other.due : sequence < other.sequence;
    }
};

class TimerHeap {
  public:
    bool empty() const { return nodes_.empty(); }
    TimerNode& top() const { return *nodes_.front(); }

    void insert(TimerNode& node) {
        node.place = nodes_.size();
        nodes_.push_back(&node);
        rise(node.place);
    }

    void remove(TimerNode& node) {
        const std::size_t hole = std::exchange(node.place, TimerNode::kNowhere);
        TimerNode* const last = nodes_.back();
        nodes_.pop_back();
        if (last == &node) return;
        put(hole, last);
        rise(hole);
        sink(last->place);
    }

  private:
    void put(std::size_t place, TimerNode* node) {
        nodes_[place] = node;
        node->place = place;
    }
    void rise(std::size_t place) {
        TimerNode* const node = nodes_[place];
        while (place > 0) {
            const std::size_t parent = (place - 1) / 2;
            if (!node->before(*nodes_[parent])) break;
            put(place, nodes_[parent]);
            place = parent;
        }
        put(place, node);
    }
    void sink(std::size_t place) {
        TimerNode* const node = nodes_[place];
        for (;;) {
            std::size_t child = 2 * place + 1;
            if (child >= nodes_.size()) break;
            if (child + 1 < nodes_.size() && nodes_[child + 1]->before(*nodes_[child])) ++child;
            if (!nodes_[child]->before(*node)) break;
            put(place, nodes_[child]);
            place = child;
        }
        put(place, node);
    }

    std::vector<TimerNode*> nodes_;
};

}  // namespace switchyard::io
