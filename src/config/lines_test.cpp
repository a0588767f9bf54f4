// lines_test.cpp: the text form of the files: pairs, comments, joined lines, includes.
#include "config/config_fixture.hpp"

namespace switchyard::config {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(ConfigTest, ReadsSeveralPairsPerLineInAnyCaseWithBlanksAroundTheEqualsSign) {
    const Config config = load("CLUSTERNAME=Alpha  killwait = 45\tMinJobAge=7\n");
    EXPECT_EQ(config.cluster_name, "alpha");
    EXPECT_EQ(config.kill_wait, Seconds{45});
    EXPECT_EQ(config.min_job_age, Seconds{7});
}

TEST_F(ConfigTest, CommentsEndAtTheLineUnlessEscapedOrQuoted) {
    const Config config = load(
        "# ClusterName=no\n"
        "ClusterName=c # KillWait=1\n"
        "MailDomain=a\\#b\n"
        "NodeName=n1 Reason=\"bad # disk\" State=DOWN\n");
    EXPECT_EQ(config.cluster_name, "c");
    EXPECT_EQ(config.kill_wait, Seconds{30});
    EXPECT_EQ(config.mail_domain, "a#b");
    ASSERT_THAT(config.nodes, SizeIs(1));
    EXPECT_EQ(config.nodes[0].reason, "bad # disk");
    EXPECT_EQ(config.nodes[0].start, model::NodeConfig::Start::Down);
}

TEST_F(ConfigTest, ABackslashAtTheEndJoinsLinesAndErrorsNameTheFirstOfThem) {
    const Config config =
        load("NodeName=n[1-2] \\\n  CPUs=4 \\  \n  RealMemory=1000\nClusterName=c\n");
    EXPECT_EQ(node_names(config), "n[1-2]");
    EXPECT_EQ(config.nodes[1].memory, model::MiB{1000});
    EXPECT_EQ(refusal("ClusterName=c\nNodeName=n1 \\\n CPUs=x\nKillWait=y\n"),
              "slurm.conf:2: CPUs: \"x\" is not a number\n"
              "slurm.conf:4: KillWait: \"y\" is not a number");
}

TEST_F(ConfigTest, WindowsLineEndsAndAMissingLastNewlineAreHarmless) {
    const Config config = load("ClusterName=c\r\nKillWait=5\r\nMailProg=/bin/x");
    EXPECT_EQ(config.cluster_name, "c");
    EXPECT_EQ(config.kill_wait, Seconds{5});
    EXPECT_EQ(config.mail_prog, "/bin/x");
}

TEST_F(ConfigTest, MalformedLinesAreRefusedTogetherWithTheirPlaces) {
    EXPECT_EQ(
        refusal(
            "ClusterName=c\nthis is no pair\n\nReason=\"open\nKillWait=\nKillWait=\"5\"x\n=3\n"),
        "slurm.conf:2: expected Key=Value, found \"this\" without a value\n"
        "slurm.conf:4: the quote after Reason= is not closed\n"
        "slurm.conf:5: KillWait= has no value\n"
        "slurm.conf:6: unexpected text after the closing quote of KillWait=\n"
        "slurm.conf:7: expected Key=Value, found \"=3\"");
}

TEST_F(ConfigTest, IncludesAreRelativeToTheirFileAndKnowTheClusterName) {
    write("parts/nodes.conf", "NodeName=a[1-2]\nInclude more.conf\n");
    write("parts/more.conf", "NodeName=b1\n");
    write("c1.conf", "KillWait=9\n");
    const Config config =
        load("ClusterName=C1\nInclude parts/nodes.conf\ninclude %c.conf # here\n");
    EXPECT_EQ(node_names(config), "a[1-2],b1");
    EXPECT_EQ(config.kill_wait, Seconds{9});
}

TEST_F(ConfigTest, AMissingIncludeSaysWhoAskedForIt) {
    EXPECT_EQ(refusal("\nInclude nothing.conf\n"),
              "slurm.conf:2: cannot read nothing.conf: No such file or directory");
}

TEST_F(ConfigTest, FilesThatIncludeThemselvesAreRefused) {
    EXPECT_THAT(refusal("Include slurm.conf\n"),
                HasSubstr("files include each other more than 16 deep"));
}

TEST_F(ConfigTest, AMissingFileIsNotFound) {
    const auto config = load_config(path("none.conf"));
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code, Errc::NotFound);
    EXPECT_FALSE(load_config(folder_));
}

}  // namespace
}  // namespace switchyard::config
