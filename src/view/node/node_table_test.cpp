// Goal: what sinfo prints, above all which nodes share a line. Method: a sample cluster in, text
// out.
#include "view/node/node_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "view/node/node_text.hpp"
#include "view/testing/samples.hpp"

namespace switchyard::view {
namespace {

using samples::moment;
using samples::node;
using samples::nodes;
using samples::partitions;

class NodeTableTest : public testing::Test {
  protected:
    void SetUp() override {
        setenv("TZ", "UTC", 1);
        tzset();
        view_.user_ids["root"] = 0;
    }
    std::string print(NodeTableRequest request) const {
        if (request.sort.empty()) request.sort = request.each_node ? "N" : "#P,-t";
        const auto table = NodeTable::make(request);
        return table.header() + table.lines(partitions_, nodes_, view_);
    }
    std::string print(const std::string& format) const {
        NodeTableRequest request;
        request.format = format;
        return print(request);
    }
    std::vector<model::Partition> partitions_ = partitions();
    std::vector<model::Node> nodes_ = nodes();
    NodeView view_;
};

TEST_F(NodeTableTest, NodesOfOneStateShareALineBusiestFirst) {
    nodes_.push_back(node("n5"));
    partitions_[0].nodes.push_back("n5");
    EXPECT_EQ(print("%9P %.5a %.10l %.6D %.6t %N"),
              "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
              "debug*       up   infinite      1   drng n2\n"
              "debug*       up   infinite      1    mix n1\n"
              "debug*       up   infinite      2   idle n[4-5]\n"
              "debug*       up   infinite      1   down n3\n"
              "gpu          up 1-00:00:00      1   drng n2\n"
              "gpu          up 1-00:00:00      1    mix n1\n"
              "gpu          up 1-00:00:00      1   idle n4\n"
              "gpu          up 1-00:00:00      1   down n3\n");
}

TEST_F(NodeTableTest, WithoutThePartitionANodeCountsOnce) {
    EXPECT_EQ(print("%C"), "CPUS(A/I/O/T)\n6/11/15/32\n");
    EXPECT_EQ(print("%F %A"), "NODES(A/I/O/T) NODES(A/I)\n2/1/1/4 2/1\n");
    EXPECT_EQ(print("%D,%T"), "NODES,STATE\n1,draining\n1,mixed\n1,idle\n1,down\n");
}

TEST_F(NodeTableTest, NodeViewHasALineForEachNodeAndPartition) {
    NodeTableRequest request;
    request.format = "%10N %.6D %.9P %6t";
    request.each_node = true;
    EXPECT_EQ(print(request),
              "NODELIST    NODES PARTITION STATE \n"
              "n1              1    debug* mix   \n"
              "n1              1       gpu mix   \n"
              "n2              1    debug* drng  \n"
              "n2              1       gpu drng  \n"
              "n3              1    debug* down  \n"
              "n3              1       gpu down  \n"
              "n4              1    debug* idle  \n"
              "n4              1       gpu idle  \n");
}

TEST_F(NodeTableTest, DifferentSizesAreMarkedOrSetApart) {
    nodes_ = {node("n1"), node("n2")};
    nodes_[1].config.cpus = 16;
    nodes_[1].config.memory = {8000};
    NodeTableRequest request;
    request.format = "%R %D %c %m %z";
    EXPECT_EQ(print(request),
              "PARTITION NODES CPUS MEMORY S:C:T\n"
              "debug 2 8+ 4000+ 1:8+:1\n"
              "gpu 2 8+ 4000+ 1:8+:1\n");
    request.exact = true;
    request.format = "%D %c";
    EXPECT_EQ(print(request), "NODES CPUS\n1 8\n1 16\n");
}

TEST_F(NodeTableTest, LongNamesPrintTheGresInUse) {
    nodes_ = {node("n1")};
    partitions_.resize(1);
    model::GresGrant used{"gpu", "rtx4000", 1, model::IndexSet::range(0, 0), {}};
    nodes_[0].used_gres = {used};
    NodeTableRequest request;
    request.long_format = "NodeList:4,Gres:40,GresUsed:";
    request.each_node = true;
    const std::string text = print(request);
    EXPECT_NE(text.find("NODEGRES "), std::string::npos);
    EXPECT_NE(text.find("n1  gpu:rtx4000:2,shard:rtx4000:128 "), std::string::npos);
    EXPECT_NE(text.find("gpu:rtx4000:1(IDX:0),shard:rtx4000:0("), std::string::npos);
}

TEST_F(NodeTableTest, ReasonsAreGroupedWithWhoAndWhen) {
    NodeTableRequest request;
    request.format = "%12E %9u %19H %N";
    nodes_ = {nodes_[1], nodes_[2]};
    request.empty_partitions = false;
    EXPECT_EQ(print(request),
              "REASON       USER      TIMESTAMP           NODELIST\n"
              "maintenance  root      2026-11-15T01:44:40 n2\n"
              "dead         root      2026-11-15T01:44:41 n3\n");
    request.format = "%U %E";
    EXPECT_EQ(print(request), "USER REASON\nroot(0) maintenance\nroot(0) dead\n");
}

TEST_F(NodeTableTest, APartitionWithoutNodesHasALineToo) {
    partitions_[1].nodes.clear();
    nodes_ = {node("n1")};
    EXPECT_EQ(print("%P %D %t %N"),
              "PARTITION NODES STATE NODELIST\ndebug* 1 idle n1\ngpu 0 n/a \n");
}

TEST_F(NodeTableTest, LinesCanBeSortedByAnyField) {
    nodes_ = {node("n1"), node("n10"), node("n2")};
    nodes_[2].config.memory = {500};
    partitions_.resize(1);
    partitions_[0].nodes = {"n1", "n10", "n2"};
    NodeTableRequest request;
    request.format = "%N";
    request.each_node = true;
    EXPECT_EQ(print(request), "NODELIST\nn1\nn2\nn10\n");
    request.sort = "-N";
    EXPECT_EQ(print(request), "NODELIST\nn10\nn2\nn1\n");
    request.sort = "m";
    EXPECT_EQ(print(request), "NODELIST\nn2\nn1\nn10\n");
    request.sort = "!,K,-N";  // Letters that are none have no effect.
    EXPECT_EQ(print(request), "NODELIST\nn10\nn2\nn1\n");
}

TEST_F(NodeTableTest, EveryFieldHasAHeadingAndAValueAndIsListed) {
    const NodeGroup group{&partitions_[0], 0, {&nodes_[0], &nodes_[1]}, &view_};
    const NodeGroup empty{nullptr, 0, {}, &view_};
    for (const Field<NodeGroup>& field : node_fields()) {
        EXPECT_FALSE(field.header.empty()) << field.name;
        (void)field.text(group);
        (void)field.text(empty);
    }
    for (const std::string_view name : node_field_names()) {
        const auto is_it = [&](const Field<NodeGroup>& field) { return field.name == name; };
        EXPECT_TRUE(std::ranges::any_of(node_fields(), is_it)) << name;
    }
}

TEST_F(NodeTableTest, ANodeRecordTellsWhatItHasAndWhatIsUsed) {
    RecordStyle style;
    nodes_[1].used_memory = {100};
    style.now = moment(30);
    EXPECT_EQ(node_record(nodes_[1], style),
              "NodeName=n2 Arch=x86_64 CoresPerSocket=8 \n"
              "   CPUAlloc=1 CPUEfctv=8 CPUTot=8 CPULoad=1.27\n"
              "   AvailableFeatures=(null)\n"
              "   ActiveFeatures=(null)\n"
              "   Gres=gpu:rtx4000:2,shard:rtx4000:128\n"
              "   NodeAddr=127.0.0.1 NodeHostName=vm Version=26.05.0\n"
              "   OS=Linux 6.18 \n"
              "   RealMemory=4000 AllocMem=100 FreeMem=22000 Sockets=1 Boards=1\n"
              "   State=MIXED+DRAIN ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A\n"
              "   Partitions=debug,gpu \n"
              "   BootTime=2026-11-15T00:54:00 SlurmdStartTime=2026-11-15T01:30:40\n"
              "   LastBusyTime=2026-11-15T01:44:30 ResumeAfterTime=None SuspendTime=INFINITE\n"
              "   CfgTRES=cpu=8,mem=4000M,billing=8,gres/gpu=2,gres/gpu:rtx4000=2,gres/shard=128\n"
              "   AllocTRES=cpu=1,mem=100M\n"
              "   CurrentWatts=0 AveWatts=0\n"
              "   Reason=maintenance [root@2026-11-15T01:44:40]\n\n");
}

TEST_F(NodeTableTest, ANodeThatNeverCameHasOnlyItsConfiguration) {
    model::Node silent = node("n9");
    silent.facts.reset();
    silent.responding = false;
    silent.down = true;
    const std::string text = node_record(silent, {});
    EXPECT_EQ(text.find("NodeName=n9 CoresPerSocket=8 \n"), 0u);
    EXPECT_NE(text.find("CPULoad=N/A\n"), std::string::npos);
    EXPECT_NE(text.find("State=DOWN+NOT_RESPONDING "), std::string::npos);
    EXPECT_EQ(text.find("OS="), std::string::npos);
}

TEST_F(NodeTableTest, ANodeThatEnforcesSharesSaysHow) {
    model::Node guarded = node("n1");
    guarded.facts->gres = guarded.config.gres;
    guarded.facts->gres[1].protection = "guard";
    EXPECT_NE(node_record(guarded, {}).find("   GresProtection=shard:guard\n"), std::string::npos);
}

TEST_F(NodeTableTest, APartitionRecordAddsUpItsNodes) {
    RecordStyle style;
    style.one_line = true;
    EXPECT_EQ(
        partition_record(partitions_[1], nodes_, style),
        "PartitionName=gpu AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL AllocNodes=ALL "
        "Default=NO QoS=N/A DefaultTime=01:00:00 DisableRootJobs=NO Exclusive=NO GraceTime=0 "
        "Hidden=NO MaxNodes=UNLIMITED MaxTime=1-00:00:00 MinNodes=1 LLN=NO "
        "MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED Nodes=n[1-4] PriorityJobFactor=1 "
        "PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO OverTimeLimit=NONE "
        "PreemptMode=OFF State=UP TotalCPUs=32 TotalNodes=4 SelectTypeParameters=NONE "
        "JobDefaults=(null) DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED "
        "TRES=cpu=32,mem=16000M,node=4,billing=32,gres/gpu=8,gres/gpu:rtx4000=8,"
        "gres/shard=512\n");
}

}  // namespace
}  // namespace switchyard::view
