// outlook.cpp: see outlook.hpp.

#include "core/sched/outlook.hpp"

#include <algorithm>

namespace switchyard::core::sched {

// Whether what was taken off is what this key must heed, and nothing but additions came since.
bool Outlook::is_current(const Known& known, NodeIndex node, const QueueKey& key) const {
    const std::size_t added = reserved_.on(node).size() - known.places;
    return known.made && known.node_version == pool_.node(node).version &&
           reserved_.version(node) - known.plan_version == added &&
           (!known.last || *known.last < key) && (!known.first || !(*known.first < key));
}

Outlook::Known& Outlook::known(NodeIndex node) {
    if (numbers_.empty()) numbers_.resize(pool_.size());
    if (numbers_[node] == 0) {
        known_.emplace_back();
        numbers_[node] = static_cast<std::uint32_t>(known_.size());
    }
    return known_[numbers_[node] - 1];
}

const NodeLine& Outlook::line(NodeIndex node, const QueueKey& key) {
    Known& known = this->known(node);
    const auto places = reserved_.on(node);
    if (!is_current(known, node, key)) {
        known = Known{};
        known.line = NodeLine(pool_.node(node), now_, from_);
        known.node_version = pool_.node(node).version;
        known.made = true;
    }
    for (; known.places < places.size(); ++known.places) {
        const Reserved& reserved = places[known.places];
        if (reserved.key < key) {
            known.line.take(reserved);
            if (!known.last || *known.last < reserved.key) known.last = reserved.key;
        } else if (!known.first || reserved.key < *known.first) {
            known.first = reserved.key;
        }
    }
    known.plan_version = reserved_.version(node);
    return known.line;
}

}  // namespace switchyard::core::sched
