// reservations.cpp: see reservations.hpp.

#include "core/sched/reservations.hpp"

namespace switchyard::core::sched {

void Reservations::add(NodeIndex node, const Places& places, Reserved reserved) {
    for (const auto& [partition, place] : places) ends_[partition].emplace(reserved.until, place);
    if (!last_key_ || *last_key_ < reserved.key) last_key_ = reserved.key;
    nodes_[node].reserved.push_back(std::move(reserved));
    ++nodes_[node].version;
    ++changes_;
    added_.push_back({node, static_cast<std::uint32_t>(nodes_[node].reserved.size() - 1)});
}

void Reservations::drop(NodeIndex node, const Places& places, JobId job) {
    std::erase_if(nodes_[node].reserved, [&](const Reserved& reserved) {
        if (reserved.job != job) return false;
        for (const auto& [partition, place] : places) {
            const auto end = ends_[partition].find({reserved.until, place});
            if (end != ends_[partition].end()) ends_[partition].erase(end);
        }
        return true;
    });
    ++nodes_[node].version;
    ++changes_;
    ++drops_;
    added_.clear();
}

}  // namespace switchyard::core::sched
