// Goal: what getopt does for every command, the environment behind the command line, and the help
// that is made from the table. Method: a small table, argv in, options or an exit code out.
#include "cli/option_table.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "cli/testing/command_line.hpp"

namespace switchyard::cli {
namespace {

struct Options {
    std::string account, format;
    bool all = false, loud = false;
    int verbose = 0, seconds = 0;
    std::vector<std::string> names;
};

const Option<Options> kOptions[] = {
    {{"account", 'A', Argument::Required, "NAME", "whose jobs", "TABLE_TEST_ACCOUNT"},
     keep<&Options::account>},
    {{.name = "accounts", .argument = Argument::Required, .same_as = "account"}},
    {{.letter = 'U', .argument = Argument::Required, .same_as = "account"}},
    {{"all", 'a', Argument::None, "", "everything", "TABLE_TEST_ALL"}, flag<&Options::all>},
    {{"format", 'o', Argument::Required, "TEXT", "columns", "TABLE_TEST_FORMAT", "loud"},
     keep<&Options::format>},
    {{"iterate", 'i', Argument::Required, "SECONDS", "again"}, keep_seconds<&Options::seconds>},
    {{"loud", 0, Argument::None, "", "shout"}, flag<&Options::loud>},
    {{"name", 'n', Argument::Optional, "NAMES", "names"}, keep_list<&Options::names>},
    {{"verbose", 'v', Argument::None, "", "more words"}, count<&Options::verbose>},
};
constexpr CommandText kText{.program = "table", .purpose = "Tests.", .takes_words = true};

struct Outcome {
    Options options;
    ParsedLine line;
};

Outcome parse(std::vector<std::string> words) {
    CommandLine line("/somewhere/table", std::move(words));
    Outcome outcome;
    outcome.line = parse_options(kText, kOptions, outcome.options, line.argc(), line.argv());
    return outcome;
}

TEST(OptionTable, PrefixesClustersAndSecondSpellingsAreRead) {
    const Outcome outcome = parse({"--acc", "x", "-avvo%i", "word", "-n1,2", "more"});
    ASSERT_FALSE(outcome.line.exit_code);
    EXPECT_EQ(outcome.options.account, "x");
    EXPECT_TRUE(outcome.options.all);
    EXPECT_EQ(outcome.options.verbose, 2);
    EXPECT_EQ(outcome.options.format, "%i");
    EXPECT_EQ(outcome.options.names, (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(outcome.line.words, (std::vector<std::string>{"word", "more"}));
    EXPECT_EQ(parse({"-Uy"}).options.account, "y");
    EXPECT_EQ(parse({"--accounts=z"}).options.account, "z");
}

TEST(OptionTable, WhatIsUnknownAmbiguousOrNoNumberIsRefused) {
    EXPECT_EQ(parse({"--nosuch"}).line.exit_code, 1);
    EXPECT_EQ(parse({"--a"}).line.exit_code, 1);
    EXPECT_EQ(parse({"-i", "soon"}).line.exit_code, 1);
    EXPECT_EQ(parse({"-i", "0"}).line.exit_code, 1);
    EXPECT_EQ(parse({"-i", "5"}).options.seconds, 5);
    EXPECT_EQ(parse({"--version"}).line.exit_code, 0);
}

TEST(OptionTable, VariablesCountOnlyWhereTheCommandLineIsSilent) {
    setenv("TABLE_TEST_ACCOUNT", "site", 1);
    setenv("TABLE_TEST_FORMAT", "%A", 1);
    EXPECT_EQ(parse({}).options.account, "site");
    EXPECT_EQ(parse({"-A", "mine"}).options.account, "mine");
    EXPECT_EQ(parse({"--accounts", "mine"}).options.account, "mine");
    EXPECT_EQ(parse({}).options.format, "%A");
    EXPECT_EQ(parse({"--loud"}).options.format, "");
    unsetenv("TABLE_TEST_ACCOUNT");
    unsetenv("TABLE_TEST_FORMAT");
}

TEST(OptionTable, TheHelpIsTheTable) {
    const std::string help = help_of(kText, lines_of(kOptions));
    EXPECT_NE(help.find("  -A, --account=NAME          whose jobs\n"), std::string::npos) << help;
    EXPECT_NE(help.find("      --loud                  shout\n"), std::string::npos) << help;
    EXPECT_NE(help.find("  -n, --name[=NAMES]"), std::string::npos) << help;
    EXPECT_NE(help.find("TABLE_TEST_FORMAT           as --format\n"), std::string::npos) << help;
    EXPECT_EQ(help.find("accounts"), std::string::npos) << help;
    EXPECT_EQ(usage_of(kText, lines_of(kOptions)),
              "Usage: table [-anvV] [-A NAME] [-o TEXT] [-i SECONDS] [--loud] [--help]\n"
              "             [--usage]\n");
}

}  // namespace
}  // namespace switchyard::cli
