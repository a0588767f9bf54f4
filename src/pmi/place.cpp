#include "pmi/place.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace switchyard::pmi {

std::uint32_t Place::task_count() const {
    std::size_t count = 0;
    for (const NodePlace& node : nodes) count += node.tasks.size();
    return static_cast<std::uint32_t>(count);
}

std::uint32_t Place::node_of(std::uint32_t rank) const {
    const auto found = std::ranges::find_if(nodes, [&](const NodePlace& node) {
        return std::ranges::find(node.tasks, rank) != node.tasks.end();
    });
    return static_cast<std::uint32_t>(found - nodes.begin());
}

std::string process_mapping(const Place& place) {
    std::vector<std::uint32_t> node_of(place.task_count());
    for (std::uint32_t node = 0; node < place.nodes.size(); ++node) {
        for (const std::uint32_t rank : place.nodes[node].tasks) {
            if (rank < node_of.size()) node_of[rank] = node;
        }
    }
    struct Triple {
        std::uint32_t first, nodes, tasks;
    };
    std::vector<Triple> triples;
    for (std::size_t rank = 0; rank < node_of.size();) {
        const std::uint32_t node = node_of[rank];
        std::uint32_t run = 0;
        for (; rank < node_of.size() && node_of[rank] == node; ++rank) ++run;
        if (!triples.empty() && triples.back().first + triples.back().nodes == node &&
            triples.back().tasks == run) {
            ++triples.back().nodes;
        } else {
            triples.push_back({node, 1, run});
        }
    }
    std::string text = "(vector";
    for (const Triple& each : triples) {
        text += fmt::format(",({},{},{})", each.first, each.nodes, each.tasks);
    }
    return text + ")";
}

}  // namespace switchyard::pmi
