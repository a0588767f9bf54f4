// nodes_test.cpp: lines of nodes: ranges, defaults, counts that follow from others.
#include "config/config_fixture.hpp"

namespace switchyard::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(ConfigTest, NodeRangesArePairedWithHostsAddressesAndPorts) {
    const Config config = load(
        "NodeName=n[01-03] NodeHostname=host[7-9] NodeAddr=10.0.0.[1-3] Port=[17001-17003]\n"
        "NodeName=m[1-2] NodeHostname=vm Port=6818\n");
    ASSERT_THAT(config.nodes, SizeIs(5));
    EXPECT_EQ(config.nodes[2].name, "n03");
    EXPECT_EQ(config.nodes[2].host_name, "host9");
    EXPECT_EQ(config.nodes[2].address, "10.0.0.3");
    EXPECT_EQ(config.nodes[2].port, 17003);
    EXPECT_EQ(config.nodes[4].host_name, "vm");
    EXPECT_EQ(config.nodes[4].port, 6818);
    EXPECT_EQ(config.expand("/x/%h/%n", "n02"), "/x/host8/n02");
    EXPECT_EQ(refusal("NodeName=n[1-3] NodeAddr=a[1-2]\n"),
              "slurm.conf:1: NodeAddr=a[1-2] names 2 hosts for 3 nodes");
}

TEST_F(ConfigTest, NodeDefaultsHoldForTheLinesBelowThem) {
    const Config config = load(
        "NodeName=a\nNodeName=DEFAULT RealMemory=1000 Feature=x,y Weight=3\nNodeName=b "
        "RealMemory=2G\n"
        "NodeName=DEFAULT Weight=5\nNodeName=c\n");
    ASSERT_THAT(config.nodes, SizeIs(3));
    EXPECT_EQ(config.nodes[0].memory, model::MiB{0});
    EXPECT_EQ(config.nodes[1].memory, model::MiB{2048});
    EXPECT_THAT(config.nodes[1].features, ElementsAre("x", "y"));
    EXPECT_EQ(config.nodes[1].weight, 3u);
    EXPECT_EQ(config.nodes[2].memory, model::MiB{1000});
    EXPECT_EQ(config.nodes[2].weight, 5u);
    EXPECT_EQ(refusal("NodeName=DEFAULT CPUs=x\nNodeName=a,b\n"),
              "slurm.conf:1: CPUs: \"x\" is not a number");
}

std::string counts(const model::NodeConfig& node) {
    return std::to_string(node.cpus) + "=" + std::to_string(node.sockets) + "x" +
           std::to_string(node.cores_per_socket) + "x" + std::to_string(node.threads_per_core);
}

TEST_F(ConfigTest, CountsLeftOutFollowFromTheOthers) {
    const Config config = load(
        "NodeName=none\nNodeName=cpus CPUs=8\nNodeName=procs Procs=4\nNodeName=topo Sockets=2 "
        "CoresPerSocket=4\n"
        "NodeName=boards Boards=2 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=2\n"
        "NodeName=guess CPUs=16 ThreadsPerCore=2 Sockets=2\nNodeName=cores CPUs=8 Sockets=2 "
        "CoresPerSocket=4 "
        "ThreadsPerCore=2\n");
    std::vector<std::string> found;
    for (const auto& node : config.nodes) found.push_back(node.name + " " + counts(node));
    EXPECT_THAT(found, ElementsAre("none 0=0x0x0", "cpus 8=1x8x1", "procs 4=1x4x1", "topo 8=2x4x1",
                                   "boards 32=4x4x2", "guess 16=2x4x2", "cores 8=2x4x2"));
    EXPECT_THAT(config.notices, IsEmpty());
}

TEST_F(ConfigTest, CountsThatDoNotAgreeAreSettledByTheTopology) {
    const Config config = load("NodeName=n CPUs=7 Sockets=1 CoresPerSocket=4 ThreadsPerCore=2\n");
    EXPECT_EQ(counts(config.nodes[0]), "8=1x4x2");
    EXPECT_THAT(notices(config), ElementsAre(HasSubstr("slurm.conf:1: CPUs=7 matches neither")));
}

TEST_F(ConfigTest, ANodeIsDefinedOnce) {
    EXPECT_EQ(refusal("NodeName=a,b\nNodeName=b\n"),
              "slurm.conf:2: node b is defined a second time (first at slurm.conf:1)");
}

TEST_F(ConfigTest, DownNodesMarkNodesWhereverTheyStand) {
    const Config config =
        load("DownNodes=n[1-2] State=DRAIN Reason=\"power, tomorrow\"\nNodeName=n[1-3]\n");
    EXPECT_EQ(config.nodes[1].start, model::NodeConfig::Start::Drain);
    EXPECT_EQ(config.nodes[1].reason, "power, tomorrow");
    EXPECT_EQ(config.nodes[2].start, model::NodeConfig::Start::Unknown);
    EXPECT_EQ(refusal("DownNodes=x\n"),
              "slurm.conf:1: DownNodes names node x, which no NodeName line defines");
}

}  // namespace
}  // namespace switchyard::config
