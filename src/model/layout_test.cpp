#include "model/layout.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "base/limits.hpp"

namespace switchyard::model {
namespace {

// "0,1 2 3": the ranks of each node.
std::string laid_out(const LayoutRequest& request) {
    const auto layout = lay_out(request);
    if (!layout) return layout.error().message;
    std::string out;
    for (const auto& ranks : *layout) {
        if (!out.empty()) out += ' ';
        if (ranks.empty()) out += '-';
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            if (i > 0) out += ',';
            out += std::to_string(ranks[i]);
        }
    }
    return out;
}

LayoutRequest tasks_on(std::vector<std::uint32_t> slots, std::uint32_t tasks,
                       std::string_view how = "") {
    LayoutRequest request;
    request.slots = std::move(slots);
    request.tasks = tasks;
    if (!how.empty()) request.distribution = *parse_distribution(how);
    return request;
}

constexpr const char* kNoFit = "Task count specification invalid";

TEST(LayOut, is_block_by_default) {
    EXPECT_EQ(laid_out(tasks_on({2, 2}, 4)), "0,1 2,3");
    EXPECT_EQ(laid_out(tasks_on({2, 2, 2}, 4)), "0,1 2 3");
    EXPECT_EQ(laid_out(tasks_on({2, 2, 2}, 4, "block")), "0,1 2 3");
    EXPECT_EQ(laid_out(tasks_on({1, 1}, 2)), "0 1");
    EXPECT_EQ(laid_out(tasks_on({4}, 3)), "0,1,2");
}

// Ten tasks on two nodes of eight: five on each, or with Pack eight and two.
TEST(LayOut, spreads_evenly_unless_told_to_pack) {
    EXPECT_EQ(laid_out(tasks_on({8, 8}, 10)), "0,1,2,3,4 5,6,7,8,9");
    EXPECT_EQ(laid_out(tasks_on({8, 8}, 10, "block,Pack")), "0,1,2,3,4,5,6,7 8,9");
    EXPECT_EQ(laid_out(tasks_on({8, 8}, 10, "block,NoPack")), "0,1,2,3,4 5,6,7,8,9");
    EXPECT_EQ(laid_out(tasks_on({4, 4, 4}, 5, "*,Pack")), "0,1,2 3 4");
    EXPECT_EQ(laid_out(tasks_on({1, 4}, 5)), "0 1,2,3,4");
}

TEST(LayOut, cyclic_goes_round) {
    EXPECT_EQ(laid_out(tasks_on({2, 2, 2}, 4, "cyclic")), "0,3 1 2");
    EXPECT_EQ(laid_out(tasks_on({1, 3}, 4, "cyclic")), "0 1,2,3");
    EXPECT_EQ(laid_out(tasks_on({2, 2}, 4, "cyclic:block")), "0,2 1,3");
}

TEST(LayOut, plane_deals_blocks) {
    EXPECT_EQ(laid_out(tasks_on({8, 8, 8}, 21, "plane=4")),
              "0,1,2,3,12,13,14,15 4,5,6,7,16,17,18,19 8,9,10,11,20");
    EXPECT_EQ(laid_out(tasks_on({3, 8}, 6, "plane=2")), "0,1,4 2,3,5");
    EXPECT_EQ(laid_out(tasks_on({8, 8}, 4, "plane")), "Task distribution specification invalid");
}

TEST(LayOut, arbitrary_follows_the_list) {
    LayoutRequest request = tasks_on({1, 1}, 3, "arbitrary");
    EXPECT_EQ(laid_out(request), "Task distribution specification invalid");
    request.arbitrary = {1, 0, 1};
    EXPECT_EQ(laid_out(request), "1 0,2");
    request.arbitrary = {1, 0, 2};
    EXPECT_EQ(laid_out(request), "Task distribution specification invalid");
}

TEST(LayOut, leaves_nodes_empty_only_if_there_are_more_nodes_than_tasks) {
    EXPECT_EQ(laid_out(tasks_on({2, 2, 2}, 2)), "0 1 -");
    EXPECT_EQ(laid_out(tasks_on({2, 2, 2}, 2, "cyclic")), "0 1 -");
}

TEST(LayOut, keeps_to_tasks_per_node) {
    LayoutRequest request = tasks_on({8, 8}, 4);
    request.tasks_per_node = 2;
    EXPECT_EQ(laid_out(request), "0,1 2,3");
    request.tasks = 5;
    EXPECT_EQ(laid_out(request), kNoFit);
    request.tasks = 0;
    EXPECT_EQ(laid_out(request), "0,1 2,3");
    request.slots = {1, 8};
    EXPECT_EQ(laid_out(request), kNoFit);
    request.overcommit = true;
    EXPECT_EQ(laid_out(request), "0,1 2,3");
}

TEST(LayOut, passes_the_slots_only_with_overcommit) {
    LayoutRequest request = tasks_on({1, 2}, 5);
    EXPECT_EQ(laid_out(request), kNoFit);
    request.overcommit = true;
    EXPECT_EQ(laid_out(request), "0,1 2,3,4");
    request.slots = {0, 0};
    EXPECT_EQ(laid_out(request), "0,1,2 3,4");
}

TEST(LayOut, refuses_nothing_and_too_much) {
    EXPECT_EQ(laid_out(tasks_on({}, 1)), kNoFit);
    EXPECT_EQ(laid_out(tasks_on({1}, 0)), kNoFit);
    EXPECT_EQ(laid_out(tasks_on({0, 0}, 1)), kNoFit);
    EXPECT_EQ(laid_out(tasks_on({UINT32_MAX}, limits::kTasksMax + 1)), kNoFit);
    LayoutRequest request = tasks_on({4, 4}, 0);
    request.tasks_per_node = UINT32_MAX;
    request.overcommit = true;
    EXPECT_EQ(laid_out(request), kNoFit);
}

// Goal: every rank is given out once, in order on each node, within the slots.
TEST(LayOut, gives_every_rank_once_seeded) {
    for (std::uint32_t seed = 0; seed < 2'000; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        LayoutRequest request;
        for (std::uint32_t left = 1 + random() % 6; left > 0; --left) {
            request.slots.push_back(static_cast<std::uint32_t>(random() % 7));
        }
        request.tasks = 1 + static_cast<std::uint32_t>(random() % 20);
        request.overcommit = random() % 2 == 0;
        request.distribution.nodes = static_cast<Distribution::Nodes>(random() % 4);
        request.distribution.plane_size = 1 + random() % 4;
        request.distribution.pack = random() % 3 == 0;
        std::uint64_t room = 0;
        for (const std::uint32_t slot : request.slots) room += slot;
        const auto layout = lay_out(request);
        ASSERT_EQ(layout.operator bool(), request.overcommit || room >= request.tasks);
        if (!layout) continue;
        std::set<std::uint32_t> seen;
        for (std::size_t i = 0; i < layout->size(); ++i) {
            const auto& ranks = (*layout)[i];
            ASSERT_TRUE(std::is_sorted(ranks.begin(), ranks.end()));
            if (!request.overcommit) {
                ASSERT_LE(ranks.size(), request.slots[i]);
            }
            seen.insert(ranks.begin(), ranks.end());
        }
        ASSERT_EQ(seen.size(), request.tasks);
        ASSERT_EQ(*seen.rbegin(), request.tasks - 1);
    }
}

TEST(Distribution, reads_and_prints_every_form) {
    for (const char* text :
         {"block", "cyclic", "arbitrary", "plane=2", "plane", "block:cyclic",
          "cyclic:fcyclic:block", "*:block", "block,Pack", "cyclic:cyclic,NoPack", "Pack"}) {
        EXPECT_EQ(to_string(*parse_distribution(text)), text);
    }
    EXPECT_EQ(to_string(*parse_distribution("*")), "");
    EXPECT_EQ(to_string(*parse_distribution("BLOCK")), "block");
    EXPECT_EQ(to_string(Distribution{}), "");
    EXPECT_TRUE(parse_distribution("block,nopack")->no_pack);
}

TEST(Distribution, refuses_everything_else) {
    for (const char* bad :
         {"", "blocks", "plane=", "plane=0", "plane=-1", "plane=x", "plane2", "plane=2:block",
          "plane=99999999999", "block:", "block:x", "block:arbitrary", "a:b:c:d", "block:*:*:*",
          "block,", "block,x", ",pack", ":block"}) {
        EXPECT_FALSE(parse_distribution(bad)) << bad;
    }
}

}  // namespace
}  // namespace switchyard::model
