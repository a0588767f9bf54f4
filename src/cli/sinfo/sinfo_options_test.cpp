// Goal: command lines and environments of sinfo, as programs and people type
// them. Method: argv in, options or an exit code out.
#include <gtest/gtest.h>

#include "cli/sinfo/sinfo_options.hpp"
#include "cli/testing/command_line.hpp"
#include "view/testing/samples.hpp"

namespace switchyard::cli {
namespace {

SinfoParsed sinfo(std::vector<std::string> words) {
    CommandLine line("sinfo", std::move(words));
    return parse_sinfo(line.argc(), line.argv());
}

TEST(SinfoOptions, ExportersCommandLinesAreRead) {
    const auto cluster = sinfo({"-ahNO", "nodehost:100,gres:512"});
    ASSERT_FALSE(cluster.exit_code);
    EXPECT_TRUE(cluster.options.all_partitions);
    EXPECT_TRUE(cluster.options.each_node);
    EXPECT_EQ(cluster.options.long_format, "nodehost:100,gres:512");
    EXPECT_EQ(sinfo({"-h", "-o %C"}).options.format, " %C");
    EXPECT_EQ(sinfo({"-h", "-o%R,%C"}).options.format, "%R,%C");
    EXPECT_EQ(sinfo({"-aho", "%F/%C"}).options.format, "%F/%C");
    EXPECT_EQ(sinfo({"--format", "%P,%m", "--noconvert"}).options.format, "%P,%m");
}

TEST(SinfoOptions, NodesAreFilteredByStateAndName) {
    const std::vector<model::Node> nodes = view::samples::nodes();
    const auto names = [&](std::vector<std::string> words) {
        std::string found;
        const SinfoParsed parsed = sinfo(std::move(words));
        for (const model::Node& node : nodes) {
            if (is_wanted(node, parsed.options)) found += node.config.name;
        }
        return found;
    };
    EXPECT_EQ(names({}), "n1n2n3n4");
    EXPECT_EQ(names({"-t", "idle"}), "n4");
    EXPECT_EQ(names({"-t", "MIX,down"}), "n1n2n3");
    EXPECT_EQ(names({"-t", "alloc"}), "n1n2") << "whatever else is said of a node with jobs";
    EXPECT_EQ(names({"-t", "I"}), "n4") << "the beginning of a word";
    EXPECT_EQ(names({"-t", "Drain+mixed"}), "n2");
    EXPECT_EQ(names({"-t", "drain"}), "n2");
    EXPECT_EQ(names({"-t", "drain&idle"}), "");
    EXPECT_EQ(names({"-R"}), "n2n3");
    EXPECT_EQ(names({"-n", "n[1,4]"}), "n1n4");
    EXPECT_EQ(names({"--dead"}), "");
    EXPECT_EQ(sinfo({"-t", "sleepy"}).exit_code, 1);
}

TEST(SinfoOptions, NamesGetTheRoomTheyNeed) {
    auto partitions = view::samples::partitions();
    const auto nodes = view::samples::nodes();
    EXPECT_EQ(default_format({}, partitions, nodes), "%9P %.5a %.10l %.6D %.6t %N");
    partitions[0].name = "interactive";
    EXPECT_EQ(default_format({}, partitions, nodes), "%12P %.5a %.10l %.6D %.6t %N");
    SinfoOptions each;
    each.each_node = true;
    EXPECT_EQ(default_format(each, partitions, nodes), "%9N %.6D %.12P %6t");
}

}  // namespace
}  // namespace switchyard::cli
