// layout.cpp: deals ranks to nodes. First how many tasks each node gets, then which.
//
// Block and cyclic agree on the first (one task to every node in turn, as long as it has slots) and
// differ in the second; Pack fills a node before the next one, keeping a task for each node that
// follows.
#include "model/layout.hpp"

#include <algorithm>
#include <numeric>

#include "base/limits.hpp"

namespace switchyard::model {
namespace {

using Counts = std::vector<std::uint32_t>;
using Ranks = std::vector<std::vector<std::uint32_t>>;

// Gives up to `tasks` tasks to nodes in turn; returns how many found no slot.
std::uint32_t deal_evenly(Counts& counts, const Counts& slots, std::uint32_t tasks) {
    bool space = true;
    while (tasks > 0 && space) {
        space = false;
        for (std::size_t i = 0; i < slots.size() && tasks > 0; ++i) {
            if (counts[i] >= slots[i]) continue;
            ++counts[i];
            --tasks;
            space = true;
        }
    }
    return tasks;
}

std::uint32_t deal_packed(Counts& counts, const Counts& slots, std::uint32_t tasks) {
    for (std::size_t i = 0; i < slots.size() && tasks > 0; ++i) {
        if (slots[i] == 0) continue;
        counts[i] = 1;
        --tasks;
    }
    for (std::size_t i = 0; i < slots.size() && tasks > 0; ++i) {
        const std::uint32_t more = std::min(tasks, slots[i] - counts[i]);
        counts[i] += more;
        tasks -= more;
    }
    return tasks;
}

// Passes the slots: what is left goes round and round.
void deal_over(Counts& counts, std::uint32_t tasks) {
    for (std::size_t i = 0; tasks > 0; i = (i + 1) % counts.size(), --tasks) ++counts[i];
}

Ranks number_in_blocks(const Counts& counts) {
    Ranks ranks(counts.size());
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        ranks[i].resize(counts[i]);
        std::iota(ranks[i].begin(), ranks[i].end(), next);
        next += counts[i];
    }
    return ranks;
}

// `size` consecutive ranks to a node, then the next node; a size of 1 is cyclic.
Ranks number_in_planes(const Counts& counts, std::uint32_t size) {
    Ranks ranks(counts.size());
    std::uint32_t next = 0;
    bool space = true;
    while (space) {
        space = false;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            for (std::uint32_t n = 0; n < size && ranks[i].size() < counts[i]; ++n) {
                ranks[i].push_back(next++);
                space = true;
            }
        }
    }
    return ranks;
}

// How many each node gets when planes of `size` are dealt whole.
std::uint32_t deal_planes(Counts& counts, const Counts& slots, std::uint32_t tasks,
                          std::uint32_t size) {
    bool space = true;
    while (tasks > 0 && space) {
        space = false;
        for (std::size_t i = 0; i < slots.size() && tasks > 0; ++i) {
            const std::uint32_t plane = std::min({size, slots[i] - counts[i], tasks});
            counts[i] += plane;
            tasks -= plane;
            space = space || plane > 0;
        }
    }
    return tasks;
}

Result<Ranks> place_as_listed(const LayoutRequest& request, std::uint32_t tasks) {
    if (request.arbitrary.size() < tasks) return fail(Errc::TaskDistribution);
    Ranks ranks(request.slots.size());
    for (std::uint32_t rank = 0; rank < tasks; ++rank) {
        const std::uint32_t node = request.arbitrary[rank];
        if (node >= ranks.size()) return fail(Errc::TaskDistribution);
        ranks[node].push_back(rank);
    }
    return ranks;
}

}  // namespace

Result<std::vector<std::vector<std::uint32_t>>> lay_out(const LayoutRequest& request) {
    const std::size_t nodes = request.slots.size();
    std::uint64_t tasks = request.tasks;
    if (tasks == 0) tasks = std::uint64_t{request.tasks_per_node} * nodes;
    if (nodes == 0 || tasks == 0 || tasks > limits::kTasksMax) return fail(Errc::InvalidTaskCount);
    const auto count = static_cast<std::uint32_t>(tasks);
    const Distribution& distribution = request.distribution;
    if (distribution.nodes == Distribution::Nodes::Arbitrary)
        return place_as_listed(request, count);

    Counts slots = request.slots;
    if (request.tasks_per_node != 0) {
        for (std::uint32_t& slot : slots) {
            // With overcommit the number per node is what was asked for, whatever the cores.
            slot = request.overcommit ? request.tasks_per_node
                                      : std::min(slot, request.tasks_per_node);
        }
    }
    const bool plane = distribution.nodes == Distribution::Nodes::Plane;
    if (plane && distribution.plane_size == 0) return fail(Errc::TaskDistribution);

    Counts counts(nodes, 0);
    std::uint32_t left = 0;
    if (plane) {
        left = deal_planes(counts, slots, count, distribution.plane_size);
    } else if (distribution.pack) {
        left = deal_packed(counts, slots, count);
    } else {
        left = deal_evenly(counts, slots, count);
    }
    if (left > 0 && (!request.overcommit || request.tasks_per_node != 0)) {
        return fail(Errc::InvalidTaskCount);
    }
    deal_over(counts, left);

    if (plane) return number_in_planes(counts, distribution.plane_size);
    if (distribution.nodes == Distribution::Nodes::Cyclic) return number_in_planes(counts, 1);
    return number_in_blocks(counts);
}

}  // namespace switchyard::model
