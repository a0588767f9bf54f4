// offers.cpp: see offers.hpp.

#include "core/sched/offers.hpp"

#include <algorithm>
#include <functional>

namespace switchyard::core::sched {

// Those of one node follow each other.
void Offers::add(const std::vector<Offer>& offers) {
    for (auto from = offers.begin(); from != offers.end();) {
        const auto to =
            std::find_if(from, offers.end(), [&](const Offer& o) { return o.node != from->node; });
        std::vector<Offer>& heap = nodes_[from->node];
        if (!heap.empty()) turns_.erase(turn_of(heap));
        heap.insert(heap.end(), from, to);
        if (to - from == 1) {
            std::ranges::push_heap(heap, std::greater<>{});
        } else {
            std::ranges::make_heap(heap, std::greater<>{});
        }
        turns_.insert(turn_of(heap));
        from = to;
    }
}

Offer Offers::take_first() {
    const auto found = nodes_.find(std::get<2>(*turns_.begin()));
    std::vector<Offer>& heap = found->second;
    turns_.erase(turns_.begin());
    std::ranges::pop_heap(heap, std::greater<>{});
    const Offer first = heap.back();
    heap.pop_back();
    if (heap.empty()) {
        nodes_.erase(found);
    } else {
        turns_.insert(turn_of(heap));
    }
    return first;
}

void Offers::keep(NodeIndex node, const Room& left) {
    const auto found = nodes_.find(node);
    if (found == nodes_.end()) return;
    std::vector<Offer>& heap = found->second;
    turns_.erase(turn_of(heap));
    std::erase_if(heap,
                  [&](const Offer& o) { return o.cores > left.cores || o.memory > left.memory; });
    if (heap.empty()) {
        nodes_.erase(found);
        return;
    }
    std::ranges::make_heap(heap, std::greater<>{});
    turns_.insert(turn_of(heap));
}

void Offers::renew(const std::vector<Offer>& offers) {
    for (const Offer& each : offers) {
        const auto found = nodes_.find(each.node);
        if (found == nodes_.end()) continue;
        turns_.erase(turn_of(found->second));
        nodes_.erase(found);
    }
    add(offers);
}

void Offers::clear() {
    nodes_.clear();
    turns_.clear();
}

}  // namespace switchyard::core::sched
