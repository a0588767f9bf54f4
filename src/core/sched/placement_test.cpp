// Which nodes a job without a node count gets, against a choice that looks at all of them.

#include "core/sched/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/testing/pool.hpp"

namespace switchyard::core::sched {
namespace {

constexpr Instant kNow = Instant{Seconds{1000}};

// Twenty nodes of two sizes, some with cards, partly held.
NodePool random_pool(std::mt19937& random) {
    std::vector<model::Node> nodes = core::testing::plain_nodes(20);
    for (model::Node& node : nodes) {
        if (random() % 2 == 0) node.config.cpus = node.config.cores_per_socket = 16;
        if (random() % 2 != 0) continue;
        model::GresInventory cards;
        cards.name = "gpu";
        cards.count = 4;
        node.config.gres = {cards};
    }
    NodePool pool = core::testing::pool_of(nodes);
    for (NodeIndex node = 0; node < pool.size(); ++node) {
        if (random() % 3 != 0) continue;
        Holding holding;
        holding.job = JobId{100 + node};
        holding.until = kNow + Seconds{60};
        holding.grant.cores = model::IndexSet::range(0, std::uint32_t(random() % 8));
        pool.claim(node, holding);
    }
    return pool;
}

// One node that holds it, else the largest ones, else none.
std::vector<NodeIndex> expected(const NodePool& pool, const Demand& demand) {
    struct Candidate {
        Fit held;
        NodeIndex node;
    };
    std::vector<Candidate> all;
    for (NodeIndex node = 0; node < pool.size(); ++node) {
        const Fit held = fit(pool.node(node), pool.node(node).free, demand, pool.unit());
        FitSum alone;
        alone.add(held);
        if (held.tasks > 0 && alone.enough_for(demand.shape)) return {node};
        if (held.tasks > 0) all.push_back({held, node});
    }
    std::ranges::sort(all, [](const Candidate& a, const Candidate& b) {
        if (a.held.gpus != b.held.gpus) return a.held.gpus > b.held.gpus;
        return a.held.tasks != b.held.tasks ? a.held.tasks > b.held.tasks : a.node < b.node;
    });
    std::vector<NodeIndex> nodes;
    FitSum sum;
    for (const Candidate& candidate : all) {
        sum.add(candidate.held);
        nodes.push_back(candidate.node);
        if (!sum.enough_for(demand.shape)) continue;
        std::ranges::sort(nodes);
        return nodes;
    }
    return {};
}

TEST(Placement, AJobWithoutANodeCountGetsTheLargestNodes) {
    std::uint32_t placed = 0;
    for (std::uint32_t seed = 0; seed < 1000; ++seed) {
        std::mt19937 random(seed);
        const NodePool pool = random_pool(random);
        Shape shape;
        shape.tasks = 1 + std::uint32_t(random() % 100);
        shape.cpus_per_task = 1 + std::uint32_t(random() % 3);
        if (random() % 2 == 0) shape.gpus_per_job = {{"gpu", "", 1 + random() % 30}};
        const Demand demand = make_demand(shape, pool);
        const View view{.start = kNow, .end = kNow + Seconds{60}};
        std::vector<NodeIndex> nodes;
        if (const auto picks = place(pool, 0, demand, view)) {
            for (const Pick& pick : *picks) nodes.push_back(pick.node);
            ++placed;
        }
        ASSERT_EQ(nodes, expected(pool, demand)) << "seed " << seed;
    }
    EXPECT_GT(placed, 200u);
}

}  // namespace
}  // namespace switchyard::core::sched
