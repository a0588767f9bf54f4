// Goal: `switchyard up` understands its options and writes a slurm.conf that the configuration
// reader accepts. Method: options and machines as values; the generated text is read back with
// load_config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/switchyard/daemons.hpp"
#include "cli/switchyard/generate.hpp"
#include "cli/switchyard/log_errors.hpp"
#include "cli/switchyard/place.hpp"
#include "config/config.hpp"
#include "os/machine.hpp"

namespace switchyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Wishes wishes(const std::vector<std::string>& arguments) {
    const WishesParsed parsed = parse_wishes("up", arguments);
    EXPECT_FALSE(parsed.exit_code);
    return parsed.wishes;
}

// What is said; the words of getopt, which are the C library's, only as far as ours go.
std::string refusal(const std::string& verb, const std::vector<std::string>& arguments) {
    ::testing::internal::CaptureStderr();
    const WishesParsed parsed = parse_wishes(verb, arguments);
    std::string said = ::testing::internal::GetCapturedStderr();
    return parsed.exit_code == 1 ? said : "accepted";
}

TEST(SwitchyardOptions, ValuesFollowAfterABlankOrAnEqualsSign) {
    const Wishes got = wishes(
        {"--nodes", "4", "--cpus=2", "--memory", "2G", "--gres=gpu:2", "--name=x", "--foreground"});
    EXPECT_EQ(got.nodes, 4u);
    EXPECT_EQ(got.cpus, 2u);
    EXPECT_EQ(got.memory, "2048");
    EXPECT_EQ(got.gres, "gpu:2");
    EXPECT_EQ(got.name, "x");
    EXPECT_TRUE(got.foreground);
    EXPECT_TRUE(got.shapes_cluster());
    EXPECT_FALSE(wishes({"--name=x"}).shapes_cluster());
}

TEST(SwitchyardOptions, MistakesAreNamed) {
    EXPECT_EQ(refusal("up", {"--nodes=0"}),
              "switchyard up: error: --nodes: \"0\" is not a number between 1 and 256\n");
    EXPECT_EQ(refusal("up", {"--memory=much"}),
              "switchyard up: error: --memory: \"much\" is not an amount of memory (4000M, 16G)\n");
    const std::string try_help = "Try \"switchyard up --help\" for more information\n";
    for (const char* wrong : {"--nodes", "--colour=red", "--foreground=yes"}) {
        const std::string said = refusal("up", {wrong});
        EXPECT_THAT(said, HasSubstr("switchyard up: "));
        EXPECT_THAT(said, ::testing::EndsWith(try_help));
    }
    EXPECT_THAT(refusal("up", {"now"}), HasSubstr("Unrecognized option: now"));
    EXPECT_THAT(refusal("down", {"--nodes=2"}), HasSubstr("switchyard down: "));
    EXPECT_THAT(refusal("status", {"--keep-jobs"}), HasSubstr("switchyard status: "));
}

TEST(LogErrors, TheLastOnesAreFoundAndNoLineIsTakenForAnErrorThatOnlySpeaksOfOne) {
    const std::string log =
        "[2026-11-15T01:43:52.181] error: first\n[2026-11-15T01:43:53.181] all is well\n"
        "[2026-11-15T01:43:54.181] job 3 said error: no\n[2026-11-15T01:43:55.181] error: second\n"
        "[2026-11-15T01:43:56.181] fatal: third\nerror: of somebody else\n";
    EXPECT_THAT(errors_in(log, 2, false),
                ::testing::ElementsAre("[2026-11-15T01:43:55.181] error: second",
                                       "[2026-11-15T01:43:56.181] fatal: third"));
    EXPECT_THAT(errors_in(log, 9, false), SizeIs(3));
    EXPECT_THAT(errors_in(log, 9, true), SizeIs(2)) << "the first line may be half of one";
    EXPECT_THAT(errors_in("", 3, true), SizeIs(0));
}

TEST(SwitchyardPlace, AFolderOfOnesOwnIsAbsoluteAndSharesNothing) {
    const auto place = choose_place(wishes({"--dir=/tmp/x//", "--name=lab"}));
    ASSERT_TRUE(place);
    EXPECT_EQ(place->folder, "/tmp/x");
    EXPECT_EQ(place->config, "/tmp/x/slurm.conf");
    EXPECT_EQ(place->run_dir, "/tmp/x/run");
    EXPECT_EQ(place->shared_link, "");
}

TEST(SwitchyardPlace, NamesAndFoldersThatCannotWorkAreRefused) {
    EXPECT_FALSE(choose_place(wishes({"--name=../x"})));
    EXPECT_FALSE(choose_place(wishes({"--name="})));
    const auto long_one = choose_place(wishes({"--dir=/tmp/" + std::string(80, 'x')}));
    ASSERT_FALSE(long_one);
    EXPECT_THAT(long_one.error().message, HasSubstr("too long"));
    EXPECT_FALSE(choose_place(wishes({"--dir=/tmp/a b"})));
}

class GenerateTest : public ::testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = "/tmp/sy_gen_XXXXXX";
        ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
        place_ = {"lab", pattern, pattern + "/slurm.conf", pattern + "/run", ""};
        machine_ = {os::host_name(), "root", 8, model::MiB{16000}, 0};
    }
    void TearDown() override { std::filesystem::remove_all(place_.folder); }

    config::Config make(const std::vector<std::string>& arguments) {
        const auto files = generate(place_, wishes(arguments), machine_, 7000);
        EXPECT_TRUE(files);
        text_ = files->slurm_conf;
        std::ofstream(place_.config) << text_;
        if (!files->gres_conf.empty())
            std::ofstream(place_.folder + "/gres.conf") << files->gres_conf;
        auto config = config::load_config(place_.config);
        EXPECT_TRUE(config) << (config ? "" : config.error().message);
        return config ? *config : config::Config{};
    }

    Place place_;
    Machine machine_;
    std::string text_;
};

TEST_F(GenerateTest, OneRealNodeLeavesItsCountsToItsAgent) {
    const config::Config config = make({});
    ASSERT_THAT(config.nodes, SizeIs(1));
    EXPECT_EQ(config.nodes[0].name, machine_.host);
    EXPECT_EQ(config.nodes[0].cpus, 0u);
    EXPECT_EQ(config.cluster_name, "lab");
    EXPECT_EQ(config.controller_port, 7000);
    EXPECT_EQ(config.run_dir, place_.folder + "/run");
    EXPECT_EQ(config.def_mem_per_cpu, model::MiB{2000});
    EXPECT_TRUE(config.notices.empty());
    ASSERT_THAT(config.partitions, SizeIs(1));
    EXPECT_TRUE(config.partitions[0].is_default);
}

TEST_F(GenerateTest, PretendNodesShareTheMachinesMemoryAndHaveAllItsCores) {
    const config::Config config = make({"--nodes=4"});
    ASSERT_THAT(config.nodes, SizeIs(4));
    EXPECT_EQ(config.nodes[3].name, "n4");
    EXPECT_EQ(config.nodes[3].host_name, machine_.host);
    EXPECT_EQ(config.nodes[3].cpus, 8u);
    EXPECT_EQ(config.nodes[3].memory, model::MiB{4000});
    const auto daemons = daemons_here(config);
    ASSERT_THAT(daemons, SizeIs(5));
    EXPECT_EQ(daemons[0].title(), "slurmctld");
    EXPECT_EQ(daemons[4].title(), "slurmd n4");
    EXPECT_FALSE(find_daemon(daemons[0]));
}

TEST_F(GenerateTest, CardsAreGivenToOneNodeEach) {
    machine_.gpus = 5;
    const config::Config config = make({"--nodes=2"});
    ASSERT_THAT(config.nodes[1].gres, SizeIs(1));
    EXPECT_EQ(config.nodes[1].gres[0].count, 2u);
    EXPECT_EQ(config.nodes[1].gres[0].files.at(1), "/dev/nvidia3");
}

TEST_F(GenerateTest, GresAreCountedAsAskedFor) {
    const config::Config config =
        make({"--nodes=2", "--gres=gpu:rtx:2,shard:rtx:16", "--cpus=2", "--memory=1G"});
    ASSERT_THAT(config.nodes[0].gres, SizeIs(2));
    EXPECT_THAT(config.gres_types, ::testing::ElementsAre("gpu", "shard"));
    EXPECT_EQ(config.nodes[0].cpus, 2u);
    EXPECT_EQ(config.nodes[0].memory, model::MiB{1024});
    EXPECT_FALSE(generate(place_, wishes({"--gres=gpu:-1"}), machine_, 7000));
}

TEST_F(GenerateTest, TheShapeOfAClusterIsRememberedInItsFile) {
    make({"--nodes=4", "--cpus=2"});
    EXPECT_EQ(find_shape_line(text_), shape_line(wishes({"--cpus=2", "--nodes", "4"})));
    EXPECT_NE(find_shape_line(text_), shape_line(wishes({"--nodes=3", "--cpus=2"})));
    EXPECT_EQ(find_shape_line("ClusterName=x\n"), "");
}

}  // namespace
}  // namespace switchyard::cli
