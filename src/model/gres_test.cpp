#include "model/gres.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

using Requests = std::vector<GresRequest>;

TEST(ParseGres, reads_name_type_and_count) {
    EXPECT_EQ(*parse_gres("gpu"), (Requests{{"gpu", "", 1}}));
    EXPECT_EQ(*parse_gres("gpu:2"), (Requests{{"gpu", "", 2}}));
    EXPECT_EQ(*parse_gres("gpu:tesla:2"), (Requests{{"gpu", "tesla", 2}}));
    EXPECT_EQ(*parse_gres("gpu:tesla"), (Requests{{"gpu", "tesla", 1}}));
    EXPECT_EQ(*parse_gres("gres/gpu:2"), (Requests{{"gpu", "", 2}}));
    EXPECT_EQ(*parse_gres("gres:gpu:2"), (Requests{{"gpu", "", 2}}));
    EXPECT_EQ(*parse_gres("gpu=2"), (Requests{{"gpu", "", 2}}));
    EXPECT_EQ(*parse_gres("gres/gpu:tesla=2"), (Requests{{"gpu", "tesla", 2}}));
    EXPECT_EQ(*parse_gres("gpu:Quadro_RTX_4000:1, shard:4K"),
              (Requests{{"gpu", "Quadro_RTX_4000", 1}, {"shard", "", 4096}}));
    EXPECT_EQ(*parse_gres("gpu:1g.5gb:3"), (Requests{{"gpu", "1g.5gb", 3}}));
    EXPECT_EQ(*parse_gres("gpu:1g.5gb"), (Requests{{"gpu", "1g.5gb", 1}}));
}

TEST(ParseGres, of_nothing_or_none_is_an_empty_list) {
    EXPECT_EQ(*parse_gres(""), Requests{});
    EXPECT_EQ(*parse_gres("none"), Requests{});
    EXPECT_EQ(*parse_gres("NONE"), Requests{});
}

TEST(ParseGres, adds_up_terms_for_the_same_thing) {
    EXPECT_EQ(*parse_gres("gpu:1,gpu:a:1,gpu:2"), (Requests{{"gpu", "", 3}, {"gpu", "a", 1}}));
    EXPECT_FALSE(
        parse_gres("gpu:9223372036854775807,gpu:9223372036854775807,gpu:9223372036854775807"));
}

TEST(ParseGres, refuses_everything_else) {
    for (const char* bad : {"gres",
                            "gres:gres:2",
                            ",",
                            "gpu,",
                            ",gpu",
                            ":2",
                            "gpu:",
                            "gpu::2",
                            "gpu:a:",
                            "gpu:a:b:2",
                            "gpu:0",
                            "craynetwork:0",
                            "gpu:a:0",
                            "gpu:-1",
                            "gpu:a:-1",
                            "gpu:+1x!",
                            "2",
                            "gpu:99999999999999999999",
                            "gpu:99999999999999999K",
                            "gpu:a:99999999999999999999",
                            "gp u:1",
                            "gpu:a b:1",
                            "gpu:a:x",
                            "gres/",
                            "gpu;2",
                            "gpu:1/2"}) {
        const auto parsed = parse_gres(bad);
        ASSERT_FALSE(parsed) << bad;
        EXPECT_EQ(parsed.error().message, "Invalid generic resource (gres) specification");
    }
}

TEST(ParseGpus, needs_no_name) {
    EXPECT_EQ(*parse_gpus("2"), (Requests{{"gpu", "", 2}}));
    EXPECT_EQ(*parse_gpus("rtx4000:2"), (Requests{{"gpu", "rtx4000", 2}}));
    EXPECT_EQ(*parse_gpus("rtx4000"), (Requests{{"gpu", "rtx4000", 1}}));
    EXPECT_EQ(*parse_gpus("gpu:2"), (Requests{{"gpu", "", 2}}));
    EXPECT_EQ(*parse_gpus("a:1,b:2"), (Requests{{"gpu", "a", 1}, {"gpu", "b", 2}}));
    for (const char* bad : {"", "0", "-1", "a:0", ",", "1,", "a:b:2", ":1", "a:"}) {
        EXPECT_FALSE(parse_gpus(bad)) << bad;
    }
}

TEST(GresRequest, prints_with_and_without_the_prefix_of_tres) {
    const Requests requests{{"gpu", "rtx4000", 2}, {"shard", "", 16}};
    EXPECT_EQ(to_string(requests), "gpu:rtx4000:2,shard:16");
    EXPECT_EQ(to_tres_string(requests), "gres/gpu:rtx4000:2,gres/shard:16");
    EXPECT_EQ(*parse_gres(to_string(requests)), requests);
    EXPECT_EQ(*parse_gres(to_tres_string(requests)), requests);
    EXPECT_EQ(to_string(Requests{}), "");
}

// Two cards of 64 shares each, as on the cluster whose output we follow.
std::vector<GresInventory> two_cards() {
    GresInventory cards{
        "gpu", "rtx4000", 2, IndexSet::range(0, 1), {"/dev/nvidia0", "/dev/nvidia1"}, {}};
    GresInventory shares{"shard", "rtx4000", 128, IndexSet::range(0, 1), {}, {}};
    return {cards, shares};
}

TEST(GresInventory, prints_as_scontrol_show_node) {
    EXPECT_EQ(to_string(two_cards()), "gpu:rtx4000:2,shard:rtx4000:128");
    EXPECT_EQ(to_string(std::vector<GresInventory>{{"gpu", "", 4, {}, {}, {}}}), "gpu:4");
    EXPECT_EQ(two_cards()[1].per_device(), 64u);
    EXPECT_TRUE(two_cards()[1].is_shared());
}

TEST(FormatGresUsed, prints_idle_and_busy_cards_as_sinfo_does) {
    EXPECT_EQ(format_gres_used(two_cards(), {}),
              "gpu:rtx4000:0(IDX:N/A),shard:rtx4000:0(0/64,0/64)");
    const GresGrant both{"gpu", "rtx4000", 2, IndexSet::range(0, 1), {}};
    EXPECT_EQ(format_gres_used(two_cards(), {both}),
              "gpu:rtx4000:2(IDX:0-1),shard:rtx4000:0(0/64,0/64)");
    const GresGrant first{"gpu", "rtx4000", 1, IndexSet::range(0, 0), {}};
    const GresGrant shares{"shard", "rtx4000", 32, {}, {{1, 32}}};
    EXPECT_EQ(format_gres_used(two_cards(), {first, shares}),
              "gpu:rtx4000:1(IDX:0),shard:rtx4000:32(0/64,32/64)");
}

TEST(FormatGresUsed, only_counts_what_has_no_devices) {
    const std::vector<GresInventory> inventory{{"dongle", "", 4, {}, {}, {}}};
    EXPECT_EQ(format_gres_used(inventory, {}), "dongle:0");
    EXPECT_EQ(format_gres_used(inventory, {{"dongle", "", 3, {}, {}}}), "dongle:3");
    EXPECT_EQ(format_gres_used({}, {}), "");
}

TEST(GresGrant, prints_its_indexes) {
    EXPECT_EQ(to_string(std::vector<GresGrant>{{"gpu", "rtx4000", 2, IndexSet::range(0, 1), {}}}),
              "gpu:rtx4000:2(IDX:0-1)");
    EXPECT_EQ(
        to_string(std::vector<GresGrant>{{"gpu", "Quadro_RTX_4000", 1, IndexSet::range(0, 0), {}}}),
        "gpu:Quadro_RTX_4000:1(IDX:0)");
    EXPECT_EQ(to_string(std::vector<GresGrant>{{"shard", "", 16, {}, {{1, 16}}}}),
              "shard:16(IDX:1)");
    EXPECT_EQ(to_string(std::vector<GresGrant>{{"dongle", "", 2, {}, {}}}), "dongle(CNT:2)");
}

TEST(AddGrants, adds_counts_devices_and_shares) {
    std::vector<GresGrant> sum;
    add_grants(sum,
               {{"gpu", "a", 1, IndexSet::range(1, 1), {}}, {"shard", "a", 16, {}, {{1, 16}}}});
    add_grants(sum, {{"gpu", "a", 1, IndexSet::range(0, 0), {}},
                     {"gpu", "b", 1, IndexSet::range(2, 2), {}}});
    add_grants(sum, {{"shard", "a", 24, {}, {{0, 8}, {1, 16}}}});
    const std::vector<GresGrant> expected{{"gpu", "a", 2, IndexSet::range(0, 1), {}},
                                          {"shard", "a", 40, {}, {{0, 8}, {1, 32}}},
                                          {"gpu", "b", 1, IndexSet::range(2, 2), {}}};
    EXPECT_EQ(sum, expected);
}

}  // namespace
}  // namespace switchyard::model
