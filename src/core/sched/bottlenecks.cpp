// bottlenecks.cpp: see bottlenecks.hpp.

#include "core/sched/bottlenecks.hpp"

namespace switchyard::core::sched {

void Bottlenecks::forget() {
    rows_.clear();
    known_ = 0;
}

void Bottlenecks::take_in(Outlook& outlook, const QueueKey& key) {
    if (drops_ != reserved_.drops()) forget();
    drops_ = reserved_.drops();
    const auto added = reserved_.added();
    if (known_ < added.size() && rows_.empty()) rows_.resize(reserved_.node_count());
    for (; known_ < added.size(); ++known_) {
        const auto& [node, at] = added[known_];
        const Reserved& reserved = reserved_.on(node)[at];
        Row& row = rows_[node];
        if (!(reserved.key < key) || row.at <= reserved.from) continue;
        const std::uint32_t cores =
            outlook.line(node, key).least(reserved.from, reserved.from + Millis{1}).cores;
        if (cores <= row.cores) row = {reserved.from, cores, key};
    }
}

}  // namespace switchyard::core::sched
