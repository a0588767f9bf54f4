// What an idle partition could hold, by kinds of nodes, against a placement that looks at every
// node.

#include "core/sched/idle.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/sched/placement.hpp"
#include "core/testing/pool.hpp"

namespace switchyard::core::sched {
namespace {

class World {
  public:
    explicit World(std::uint32_t seed) : random_(seed) {
        std::vector<model::Node> nodes = core::testing::plain_nodes(1 + below(12));
        for (model::Node& node : nodes) describe(node.config);
        pool = core::testing::pool_of(nodes);
        for (NodeIndex i = 0; i < pool.size(); ++i) {
            if (below(4) == 0) pool.set_open(i, false, false);
            if (below(6) != 0) continue;
            describe(nodes[i].config);
            pool.redescribe(i, nodes[i]);
        }
    }

    Shape shape() {
        Shape shape;
        shape.tasks = 1 + below(40);
        shape.cpus_per_task = 1 + below(3);
        shape.spread = below(2) == 0;
        if (shape.spread) {
            shape.nodes_min = 1 + below(6);
            shape.nodes_max = shape.nodes_min + below(3);
            shape.tasks_by_node = below(2) == 0;
            if (shape.tasks_by_node) shape.tasks = 1 + below(8);
        } else if (below(3) == 0) {
            shape.nodes_max = 1 + below(4);
        }
        if (below(3) == 0) shape.gpus_per_job = {{"gpu", "", 1u + below(12)}};
        if (below(4) == 0) shape.constraint = below(2) == 0 ? "new" : "old";
        shape.whole_nodes = below(5) == 0;
        shape.contiguous = below(8) == 0;
        shape.overcommit = below(8) == 0;
        if (below(4) == 0) shape.excluded = {name()};
        if (below(4) == 0) shape.required = {name()};
        shape.nodes_min = std::max(shape.nodes_min, std::uint32_t(shape.required.size()));
        return shape;
    }

    std::uint32_t below(std::uint32_t end) { return random_() % end; }

    NodePool pool;

  private:
    std::string name() { return "n" + std::to_string(below(std::uint32_t(pool.size()))); }
    void describe(model::NodeConfig& config) {
        config.cpus = config.cores_per_socket = 4 + 4 * below(2);
        config.features = {below(2) == 0 ? "old" : "new"};
        config.gres.clear();
        if (below(2) != 0) return;
        model::GresInventory cards;
        cards.name = "gpu";
        cards.count = 2 + 2 * below(2);
        config.gres = {cards};
    }
    std::mt19937 random_;
};

TEST(IdlePartition, HoldsWhatAPlacementOnItsIdleNodesFinds) {
    std::uint32_t held = 0, refused = 0;
    for (std::uint32_t seed = 0; seed < 3000; ++seed) {
        World world(seed);
        const Demand demand = make_demand(world.shape(), world.pool);
        for (const Nodes which : {Nodes::Usable, Nodes::All}) {
            const View idle{.empty = true, .every_node = which == Nodes::All};
            const bool placed = place(world.pool, 0, demand, idle).has_value();
            ASSERT_EQ(could_hold(world.pool, 0, demand, which), placed)
                << "seed " << seed << (which == Nodes::All ? ", all nodes" : ", usable nodes");
            ++(placed ? held : refused);
        }
    }
    EXPECT_GT(held, 1000u);
    EXPECT_GT(refused, 1000u);
}

TEST(IdlePartition, CountsCardsAndNoticesNodesNobodyHasDescribed) {
    std::vector<model::Node> nodes = core::testing::plain_nodes(3);
    model::GresInventory cards;
    cards.name = "gpu";
    cards.type = "a100";
    cards.count = 4;
    nodes[1].config.gres = nodes[2].config.gres = {cards};
    NodePool pool = core::testing::pool_of(nodes);
    EXPECT_EQ(total_of(pool, 0, {"gpu", "", 0}), 8u);
    EXPECT_EQ(total_of(pool, 0, {"gpu", "h200", 0}), 0u);
    EXPECT_FALSE(has_undescribed(pool, 0));
    nodes[0].config.cpus = nodes[0].config.cores_per_socket = 0;
    pool.redescribe(0, nodes[0]);
    EXPECT_TRUE(has_undescribed(pool, 0));
}

TEST(IdlePartition, OfUseIsANodeThatIsNotExcluded) {
    std::vector<model::Node> nodes = core::testing::plain_nodes(2);
    nodes[1].config.cpus = nodes[1].config.cores_per_socket = 64;
    const NodePool pool = core::testing::pool_of(nodes);
    Shape shape;
    shape.cpus_per_task = 32;
    EXPECT_TRUE(any_is_of_use(pool, 0, make_demand(shape, pool)));
    shape.excluded = {"n0"};
    EXPECT_TRUE(any_is_of_use(pool, 0, make_demand(shape, pool)));
    shape.excluded = {"n1"};
    EXPECT_FALSE(any_is_of_use(pool, 0, make_demand(shape, pool)));
}

}  // namespace
}  // namespace switchyard::core::sched
