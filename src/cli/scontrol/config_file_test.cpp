// Goal: what scontrol write config writes gives the same cluster when it is read again. Method: a
// slurm.conf is loaded, written, loaded once more, and compared.
#include "cli/scontrol/config_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "config/config.hpp"

namespace switchyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ConfigFileTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = ::testing::TempDir() + "/config_file_test_XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        folder_ = pattern;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    config::Config load(const std::string& text) const {
        std::ofstream(folder_ + "/slurm.conf") << text;
        auto loaded = config::load_config(folder_ + "/slurm.conf");
        EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
        return loaded ? *loaded : config::Config{};
    }

    std::string folder_;
};

TEST_F(ConfigFileTest, NodesAndPartitionsComeBackAsTheyWere) {
    const config::Config first = load(
        "ClusterName=c\nSlurmctldHost=vm\nGresTypes=gpu\n"
        "NodeName=n[1-2] NodeHostname=vm CPUs=8 RealMemory=4000 TmpDisk=10 Weight=3 "
        "Features=fast,new Gres=gpu:a100:2\n"
        "NodeName=n3 Sockets=2 CoresPerSocket=4 ThreadsPerCore=2 State=DRAIN Reason=\"new fan\"\n"
        "PartitionName=debug Nodes=n[1-3] Default=YES MaxTime=INFINITE State=UP\n"
        "PartitionName=gpu Nodes=n1 MaxTime=1-0 DefaultTime=60 State=DOWN OverSubscribe=FORCE:2 "
        "AllowGroups=staff,wheel PriorityTier=5 PreemptMode=REQUEUE Hidden=YES MaxNodes=1 "
        "DefMemPerCPU=100 GraceTime=30\n");
    std::vector<model::Node> nodes(first.nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].config = first.nodes[i];
    const ConfigValues values = {
        {"ClusterName", "c"}, {"GresTypes", "gpu"}, {"SlurmctldHost[0]", "vm"}};
    const config::Config again = load(config_file(values, nodes, first.partitions, "now"));
    EXPECT_EQ(again.cluster_name, "c");
    EXPECT_EQ(again.nodes, first.nodes);
    EXPECT_EQ(again.partitions, first.partitions);
}

TEST_F(ConfigFileTest, ValuesAreWrittenAsTheyAreReadAndWhatSetsNothingIsAComment) {
    const ConfigValues values = {{"KillWait", "30 sec"},      {"SlurmUser", "root(0)"},
                                 {"Licenses", "(null)"},      {"NEXT_JOB_ID", "12"},
                                 {"MessageTimeout", "0 sec"}, {"SlurmctldHost[0]", "vm"}};
    const std::string text = config_file(values, {}, {}, "2026-11-15T01:44:00");
    EXPECT_THAT(text, HasSubstr("2026-11-15T01:44:00"));
    EXPECT_THAT(text, HasSubstr("\nKillWait=30\n"));
    EXPECT_THAT(text, HasSubstr("\n#Licenses=\n"));
    EXPECT_THAT(text, HasSubstr("\n#MessageTimeout=\n"));
    EXPECT_THAT(text, HasSubstr("\nSlurmctldHost=vm\n"));
    EXPECT_THAT(text, Not(HasSubstr("NEXT_JOB_ID")));
    EXPECT_THAT(text, Not(HasSubstr("(0)")));
}

}  // namespace
}  // namespace switchyard::cli
