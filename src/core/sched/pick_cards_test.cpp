// Goal: cards that belong together go together, and near the cores.
#include "core/sched/pick_cards.hpp"

#include <gtest/gtest.h>

namespace switchyard::core::sched {
namespace {

model::IndexSet set_of(const char* text) { return *model::parse_index_set(text); }

// Eight cores and four cards: 0 and 1 near cores 0-3, 2 and 3 near cores 4-7; 0-2 and 1-3 linked.
model::Node machine() {
    model::Node node;
    node.config.name = "n1";
    node.config.cpus = 8;
    node.config.sockets = 2;
    node.config.cores_per_socket = 4;
    node.config.threads_per_core = 1;
    node.config.memory = model::MiB{1000};
    model::GresInventory cards;
    cards.name = "gpu";
    cards.count = 4;
    cards.devices = set_of("0-3");
    cards.device_cores = {set_of("0-3"), set_of("0-3"), set_of("4-7"), set_of("4-7")};
    cards.device_links = {set_of("2"), set_of("3"), set_of("0"), set_of("1")};
    model::GresInventory shards;
    shards.name = "shard";
    shards.count = 32;
    shards.devices = set_of("0-3");
    node.config.gres = {cards, shards};
    return node;
}

class PickCards : public testing::Test {
  protected:
    PickCards() { pool.reset({machine()}, Selection::Unit::Core); }

    void hold(std::uint32_t job, const char* cores, const char* cards) {
        Holding holding;
        holding.job = JobId{job};
        holding.grant.node = "n1";
        holding.grant.cores = set_of(cores);
        model::GresGrant gpus;
        gpus.name = "gpu";
        gpus.devices = set_of(cards);
        gpus.count = gpus.devices.size();
        if (gpus.count > 0) holding.grant.gres = {gpus};
        pool.claim(0, std::move(holding));
    }
    std::string pick(std::uint64_t count, std::uint32_t cores = 1, const char* name = "gpu") {
        CardPicker picker(pool.node(0), cores);
        std::vector<model::GresGrant> grants;
        if (!picker.pick({name, "", count}, grants)) return "none";
        return to_string(grants) + " near " + to_string(picker.near());
    }
    NodePool pool;
};

TEST_F(PickCards, linked_cards_go_together) {
    EXPECT_EQ(pick(2), "gpu:2(IDX:0,2) near 0-7");
    hold(1, "", "0");
    EXPECT_EQ(pick(2), "gpu:2(IDX:1,3) near 0-7");
}

TEST_F(PickCards, one_card_does_not_break_a_pair) {
    EXPECT_EQ(pick(1), "gpu:1(IDX:0) near 0-3");
    hold(1, "", "0");
    EXPECT_EQ(pick(1), "gpu:1(IDX:2) near 4-7");
}

TEST_F(PickCards, near_free_cores) {
    hold(1, "0-2", "");
    EXPECT_EQ(pick(1, 4), "gpu:1(IDX:2) near 4-7");
    EXPECT_EQ(pick(1, 1), "gpu:1(IDX:0) near 0-3");
}

TEST_F(PickCards, shares_are_packed) {
    EXPECT_EQ(pick(4, 1, "shard"), "shard:4(IDX:0) near 0-3");
    EXPECT_EQ(pick(12, 1, "shard"), "shard:12(IDX:0-1) near 0-3");
    hold(1, "", "0-3");
    EXPECT_EQ(pick(1, 1, "shard"), "none");
    EXPECT_EQ(pick(1), "none");
}

}  // namespace
}  // namespace switchyard::core::sched
