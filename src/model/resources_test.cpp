#include "model/resources.hpp"

#include <gtest/gtest.h>

namespace switchyard::model {
namespace {

GresGrant gpus(std::uint64_t count, std::string type) {
    return {"gpu",
            std::move(type),
            count,
            IndexSet::range(0, static_cast<std::uint32_t>(count) - 1),
            {}};
}

Allocation two_nodes() {
    Allocation allocation;
    allocation.nodes.push_back({"n1", IndexSet::range(0, 0), 1, 1, MiB{100}, {gpus(2, "rtx4000")}});
    allocation.nodes.push_back({"n2", IndexSet::range(0, 0), 1, 1, MiB{100}, {gpus(2, "rtx4000")}});
    return allocation;
}

TEST(Allocation, adds_up_its_nodes) {
    const Allocation allocation = two_nodes();
    EXPECT_EQ(allocation.cpus(), 2u);
    EXPECT_EQ(allocation.memory(), MiB{200});
    EXPECT_EQ(allocation.node_names(), (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(allocation.find("n2"), &allocation.nodes[1]);
    EXPECT_EQ(allocation.find("n3"), nullptr);
    EXPECT_EQ(cpus_per_node(allocation), (std::vector<std::uint32_t>{1, 1}));
    EXPECT_EQ(tasks_per_node(allocation), (std::vector<std::uint32_t>{1, 1}));
    EXPECT_EQ(Allocation{}.cpus(), 0u);
}

TEST(CompressCounts, repeats_with_an_x) {
    EXPECT_EQ(compress_counts({}), "");
    EXPECT_EQ(compress_counts({2}), "2");
    EXPECT_EQ(compress_counts({2, 2}), "2(x2)");
    EXPECT_EQ(compress_counts({2, 2, 2, 1}), "2(x3),1");
    EXPECT_EQ(compress_counts({1, 2, 1}), "1,2,1");
}

// The lines of `scontrol show job` of a real cluster.
TEST(FormatTres, prints_as_scontrol_show_job) {
    EXPECT_EQ(format_tres(two_nodes()),
              "cpu=2,mem=200M,node=2,billing=2,gres/gpu=4,gres/gpu:rtx4000=4");
    EXPECT_EQ(format_tres(4, MiB{400}, 2, {}), "cpu=4,mem=400M,node=2,billing=4");
    EXPECT_EQ(format_tres(1, MiB{100}, 1, {{"gpu", "", 1, {}, {}}}),
              "cpu=1,mem=100M,node=1,billing=1,gres/gpu=1");
    EXPECT_EQ(format_tres(1, MiB{100}, 1, {{"shard", "rtx4000", 16, {}, {}}}),
              "cpu=1,mem=100M,node=1,billing=1,gres/shard=16");
    EXPECT_EQ(format_tres(1, MiB{0}, 1, {}), "cpu=1,node=1,billing=1");
    EXPECT_EQ(format_tres(1, MiB{0}, 1, {gpus(1, "a"), gpus(2, "b"), {"gpu", "c", 0, {}, {}}}),
              "cpu=1,node=1,billing=1,gres/gpu=3,gres/gpu:a=1,gres/gpu:b=2");
}

TEST(FormatTres, prints_as_scontrol_show_node) {
    const std::vector<GresGrant> all{gpus(2, "rtx4000"), {"shard", "rtx4000", 128, {}, {}}};
    EXPECT_EQ(format_node_tres(8, MiB{4000}, all, true),
              "cpu=8,mem=4000M,billing=8,gres/gpu=2,gres/gpu:rtx4000=2,gres/shard=128");
    EXPECT_EQ(format_node_tres(1, MiB{100}, {}, false), "cpu=1,mem=100M");
    EXPECT_EQ(format_node_tres(0, MiB{0}, {}, false), "");
}

}  // namespace
}  // namespace switchyard::model
