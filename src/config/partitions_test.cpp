// partitions_test.cpp: lines of partitions and of sets of nodes.
#include "config/config_fixture.hpp"

namespace switchyard::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(ConfigTest, PartitionsHaveTheirRules) {
    const Config config = load(R"(NodeName=n[1-4]
PartitionName=DEFAULT MaxTime=1-00:00:00 State=UP
PartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE
PartitionName=gpu Nodes=n[2-3] DefaultTime=01:00:00 MaxNodes=2 OverSubscribe=FORCE:3 AllowGroups=a,b AllowAccounts=ALL
PartitionName=old Nodes=n4 Priority=7 Shared=EXCLUSIVE State=DOWN Hidden=YES RootOnly=yes MaxNodes=UNLIMITED DefMemPerNode=500
)");
    ASSERT_THAT(config.partitions, SizeIs(3));
    const auto& debug = config.partitions[0];
    EXPECT_THAT(debug.nodes, ElementsAre("n1", "n2", "n3", "n4"));
    EXPECT_TRUE(debug.is_default);
    EXPECT_TRUE(debug.max_time.unlimited);
    const auto& gpu = config.partitions[1];
    EXPECT_THAT(gpu.nodes, ElementsAre("n2", "n3"));
    EXPECT_EQ(gpu.max_time.seconds, Seconds{86400});
    ASSERT_TRUE(gpu.default_time);
    EXPECT_EQ(gpu.default_time->seconds, Seconds{3600});
    EXPECT_EQ(gpu.max_nodes, 2u);
    EXPECT_EQ(gpu.over_subscribe, model::Partition::OverSubscribe::Force);
    EXPECT_EQ(gpu.over_subscribe_count, 3u);
    EXPECT_THAT(gpu.allow_groups, ElementsAre("a", "b"));
    EXPECT_THAT(gpu.allow_accounts, IsEmpty());
    const auto& old = config.partitions[2];
    EXPECT_EQ(old.priority_tier, 7u);
    EXPECT_EQ(old.priority_job_factor, 7u);
    EXPECT_EQ(old.over_subscribe, model::Partition::OverSubscribe::Exclusive);
    EXPECT_EQ(old.state, model::PartitionState::Down);
    EXPECT_TRUE(old.hidden);
    EXPECT_TRUE(old.root_only);
    EXPECT_EQ(old.max_nodes, std::nullopt);
    EXPECT_EQ(old.def_mem_per_node, model::MiB{500});
}

TEST_F(ConfigTest, NodeSetsStandForTheirNodes) {
    const Config config = load(
        "NodeSet=fast Feature=ssd\nNodeSet=both Nodes=n4 Feature=big\n"
        "NodeName=n[1-2] Feature=ssd\nNodeName=n[3-4] Feature=big\n"
        "PartitionName=p Nodes=fast,n2,n3\nPartitionName=q Nodes=both\n");
    EXPECT_THAT(config.partitions[0].nodes, ElementsAre("n1", "n2", "n3"));
    EXPECT_THAT(config.partitions[1].nodes, ElementsAre("n4", "n3"));
}

TEST_F(ConfigTest, MistakesInPartitionsNameTheirLine) {
    EXPECT_EQ(refusal("NodeName=n1\nPartitionName=p Nodes=n[1-2]\n"),
              "slurm.conf:2: partition p names node n2, which no NodeName line defines");
    EXPECT_EQ(refusal("NodeName=n1\nPartitionName=p Nodes=n1\n\nPartitionName=p Nodes=n1\n"),
              "slurm.conf:4: partition p is defined a second time (first at slurm.conf:2)");
    EXPECT_EQ(refusal("PartitionName=r OverSubscribe=maybe\n"),
              "slurm.conf:1: OverSubscribe: \"maybe\" is none of NO, YES, FORCE and EXCLUSIVE");
    EXPECT_THAT(refusal("PartitionName=r State=sideways\n"), HasSubstr("slurm.conf:1: State: "));
}

TEST_F(ConfigTest, TheLastDefaultPartitionCounts) {
    const Config config = load("PartitionName=a Default=YES\nPartitionName=b Default=YES\n");
    EXPECT_FALSE(config.partitions[0].is_default);
    EXPECT_TRUE(config.partitions[1].is_default);
    EXPECT_THAT(notices(config), ElementsAre(HasSubstr("partition b is the default, not a")));
}

}  // namespace
}  // namespace switchyard::config
