// config_test.cpp: what commands read of the configuration, and where it is.
#include <chrono>
#include <cstdlib>

#include "config/config_fixture.hpp"

namespace switchyard::config {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ConfigTest, TheClientsFormKnowsHowToReachTheControllerAndReadsNoNodes) {
    write("more.conf", "SwitchyardRunDir=/r\nSlurmctldPort=7001\n");
    write("slurm.conf",
          "ClusterName=c "
          "SlurmctldHost=h(1.2.3.4)\nKillWait=oops\nNodeName=n[1-broken\nPartitionName=p "
          "Nodes=nowhere\n"
          "Include more.conf\nStateSaveLocation=/s\n");
    const auto refused = load_client_config(path("slurm.conf"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(without_folder(refused.error().message),
              "slurm.conf:2: KillWait: \"oops\" is not a number");
    write("slurm.conf",
          "ClusterName=c SlurmctldHost=h(1.2.3.4)\nNodeName=n[1-broken\nPartitionName=p "
          "Nodes=nowhere\n"
          "Include more.conf\nStateSaveLocation=/s\n");
    const auto config = load_client_config(path("slurm.conf"));
    ASSERT_TRUE(config);
    EXPECT_EQ(config->cluster_name, "c");
    EXPECT_EQ(config->controllers.at(0).address, "1.2.3.4");
    EXPECT_EQ(config->run_dir, "/r");
    EXPECT_EQ(config->controller_port, 7001);
    EXPECT_EQ(config->key_file, "/s/cluster.key");
    EXPECT_THAT(config->nodes, IsEmpty());
}

TEST_F(ConfigTest, TheClientsFormIsQuickAlsoOnALargeCluster) {
    std::string text = "ClusterName=c\n";
    for (int i = 0; i < 2000; ++i)
        text += "NodeName=n" + std::to_string(i) + " CPUs=8 RealMemory=4000\n";
    write("slurm.conf", text);
    const auto start = std::chrono::steady_clock::now();
    constexpr int kRounds = 20;
    for (int i = 0; i < kRounds; ++i) ASSERT_TRUE(load_client_config(path("slurm.conf")));
    const auto each = (std::chrono::steady_clock::now() - start) / kRounds;
    // About 50 us on an idle machine; the margin is for sanitizers and busy ones.
    EXPECT_LT(each, std::chrono::milliseconds(10));
}

TEST_F(ConfigTest, AChangeOfAnyOfItsFilesIsSeen) {
    write("more.conf", "KillWait=5\n");
    const Config config = load("ClusterName=c\nInclude more.conf\n");
    const std::string before = change_mark(config);
    EXPECT_EQ(change_mark(config), before);
    write("gres.conf", "");
    const std::string with_gres = change_mark(config);
    EXPECT_NE(with_gres, before) << "one that was not there";
    write("more.conf", "KillWait=55\n");
    EXPECT_NE(change_mark(config), with_gres);
}

TEST_F(ConfigTest, TheFileIsTheOneSlurmConfNamesElseTheUsersOwn) {
    ::setenv("SLURM_CONF", "/some/where.conf", 1);
    EXPECT_EQ(*find_config_file(), "/some/where.conf");
    ::unsetenv("SLURM_CONF");
    if (std::filesystem::exists("/etc/slurm/slurm.conf") ||
        std::filesystem::exists("/etc/switchyard/slurm.conf")) {
        GTEST_SKIP() << "this machine has a configuration of its own in /etc";
    }
    const char* home = std::getenv("HOME");
    const std::string before = home != nullptr ? home : "";
    ::setenv("HOME", folder_.c_str(), 1);
    write(".switchyard/slurm.conf", "ClusterName=mine\n");
    EXPECT_EQ(*find_config_file(), path(".switchyard/slurm.conf"));
    std::filesystem::remove(path(".switchyard/slurm.conf"));
    if (!std::filesystem::exists("/var/lib/switchyard/slurm.conf")) {
        const auto none = find_config_file();
        ASSERT_FALSE(none);
        EXPECT_EQ(none.error().code, Errc::NotFound);
        EXPECT_THAT(none.error().message, HasSubstr("\"switchyard up\" starts a cluster"));
    }
    ::setenv("HOME", before.c_str(), 1);
}

}  // namespace
}  // namespace switchyard::config
