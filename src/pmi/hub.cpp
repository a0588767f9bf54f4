#include "pmi/hub.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "wire/proto/step_io.pb.h"

namespace switchyard::pmi {

std::vector<Hub::Delivery> Hub::take(std::uint32_t from, const wire::PmiMessage& message) {
    switch (static_cast<Kind>(message.kind())) {
        case Kind::Part:
            return gather(from, message);
        case Kind::Ask:
        case Kind::Answer: {
            if (message.to() >= node_count_) return {};
            wire::PmiMessage onward = message;
            onward.set_from(from);
            return {{message.to(), onward.SerializeAsString()}};
        }
        case Kind::Whole:
        case Kind::Abort:
            break;
    }
    return {};
}

std::vector<Hub::Delivery> Hub::gather(std::uint32_t from, const wire::PmiMessage& message) {
    std::vector<std::uint32_t> nodes(message.nodes().begin(), message.nodes().end());
    if (nodes.empty()) {
        nodes.resize(node_count_);
        std::iota(nodes.begin(), nodes.end(), 0u);
    }
    const bool sound = std::ranges::find(nodes, from) != nodes.end() &&
                       std::ranges::all_of(nodes, [&](auto n) { return n < node_count_; });
    if (!sound) return {};
    auto& parts = exchanges_[message.name()];
    parts[from] = message.parts_size() > 0 ? message.parts(0) : std::string();
    if (!std::ranges::all_of(nodes, [&](auto n) { return parts.contains(n); })) return {};

    wire::PmiMessage whole;
    whole.set_kind(std::to_underlying(Kind::Whole));
    whole.set_name(message.name());
    for (const std::uint32_t node : nodes) {
        whole.add_nodes(node);
        whole.add_parts(std::move(parts[node]));
    }
    exchanges_.erase(message.name());
    const std::string bytes = whole.SerializeAsString();
    std::vector<Delivery> deliveries;
    for (const std::uint32_t node : nodes) deliveries.push_back({node, bytes});
    return deliveries;
}

}  // namespace switchyard::pmi
