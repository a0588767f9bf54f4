// accounting_test.cpp: columns, amounts and windows of the history commands, without a cluster.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/accounting/amounts.hpp"
#include "cli/accounting/print_fields.hpp"
#include "cli/accounting/sacct_options.hpp"
#include "cli/accounting/sacctmgr_document.hpp"
#include "cli/accounting/usage_text.hpp"
#include "cli/format/samples.hpp"

namespace switchyard::cli::accounting {
namespace {

struct Pair {
    std::string name, value;
};
const Field<Pair> kFields[] = {
    {"Name", -6, Wide::Mark, [](const Pair& p) { return p.name; }},
    {"NameRaw", 6, Wide::Cut, [](const Pair& p) { return p.name; }},
    {"Value", 5, Wide::Whole, [](const Pair& p) { return p.value; }},
};

std::string line(std::string_view format, const Pair& row, const TableStyle& style = {}) {
    const auto table = Table<Pair>::make(std::span<const Field<Pair>>(kFields), format, style);
    return table ? table->line(row) : "no field " + table.error().message;
}

TEST(PrintFields, CutsTextWithAPlusTimesWithoutAndNumbersNever) {
    EXPECT_EQ(line("name,nameraw,value", {"abcdefgh", "1234567"}), "abcde+ abcdef 1234567 \n");
    EXPECT_EQ(line("NAME%3,value%-4", {"abcdefgh", "12"}), "ab+ 12   \n");
}

TEST(PrintFields, ANameMayBeCutShortButTheWholeOneComesFirst) {
    EXPECT_EQ(line("val", {"a", "7"}), "    7 \n");
    EXPECT_EQ(line("nameraw%3", {"ab", ""}), " ab \n");
    EXPECT_EQ(line("nosuch", {}), "no field nosuch");
}

TEST(PrintFields, BarsStandBetweenFieldsOrBehindThemToo) {
    const Pair row{"ab", "7"};
    EXPECT_EQ(line("name,value", row, {.parsable = true, .delimiter = "|"}), "ab|7\n");
    EXPECT_EQ(line("name,value", row, {.parsable = true, .ending = true, .delimiter = ";"}),
              "ab;7;\n");
}

TEST(PrintFields, ARowIsOneLineOfAsManyFieldsWhateverItsTextsHold) {
    const Pair row{"a|b\nc;\x1b", "7"};
    EXPECT_EQ(line("name,value", row, {.parsable = true, .delimiter = "|"}),
              "a\\174b\\012c;\\033|7\n");
    EXPECT_EQ(line("name,value", row, {.parsable = true, .delimiter = ";"}),
              "a|b\\012c\\073\\033;7\n");
    // What lists are written with cannot be kept out of them.
    EXPECT_EQ(line("name,value", {"n[1,3]", "7"}, {.parsable = true, .delimiter = ","}),
              "n[1,3],7\n");
    EXPECT_EQ(line("name%20,value%-3", {"a\nb", "7"}, {}), "              a\\012b 7   \n");
}

TEST(PrintFields, HelpIsPaddedToTheEndOfEveryLine) {
    EXPECT_EQ(helpformat({"A", "BC", "D"}, {.count = 2, .width = 3}), "A   BC \nD  \n");
}

TEST(PrintFields, AFieldThatIsNotListedIsKnownByNameOnly) {
    const Field<Pair> fields[] = {
        {"Name", -3, Wide::Mark, [](const Pair& p) { return p.name; }},
        {"Old", 3, Wide::Mark, [](const Pair& p) { return p.value; }, false},
    };
    const std::span<const Field<Pair>> all(fields);
    EXPECT_EQ(names_of(all), std::vector<std::string_view>{"Name"});
    EXPECT_EQ(Table<Pair>::make(all, "ALL", {})->line({"a", "7"}), "a   \n");
    EXPECT_EQ(Table<Pair>::make(all, "old", {})->line({"a", "7"}), "  7 \n");
}

TEST(ClusterTres, AreCountedOverAllNodesAndCardsHaveNumbersOfTheirOwn) {
    std::vector<model::Node> nodes = {format::samples::node("a"), format::samples::node("b")};
    nodes[0].config.gres = {
        {.name = "gpu", .type = "t4", .count = 2, .devices = {}, .files = {}, .cores = {}}};
    nodes[1].config.gres = {
        {.name = "gpu", .type = "", .count = 1, .devices = {}, .files = {}, .cores = {}}};
    std::string text;
    for (const CountedTres& each : count_tres(nodes)) {
        if (each.count > 0)
            text += fmt::format("{}/{} {}={}\n", each.type, each.name, each.id, each.count);
    }
    const std::uint64_t cpus = nodes[0].config.cpus + nodes[1].config.cpus;
    const std::uint64_t memory = nodes[0].config.memory.value + nodes[1].config.memory.value;
    EXPECT_EQ(text, fmt::format("cpu/ 1={}\nmem/ 2={}\nnode/ 4=2\nbilling/ 5={}\n"
                                "gres/gpu 1001=3\ngres/gpu:t4 1002=2\n",
                                cpus, memory, cpus));
}

TEST(Amounts, AreConvertedOnlyWhereNothingIsLost) {
    EXPECT_EQ(amount_text(11997184, 0, {}), "11716K");
    EXPECT_EQ(amount_text(30226, 0, {}), "30226");
    EXPECT_EQ(amount_text(4096, 'M', {}), "4G");
    EXPECT_EQ(amount_text(0, 0, {}), "0");
    EXPECT_EQ(amount_text(11997184, 0, {.convert = false, .fixed = std::nullopt}), "11997184");
    EXPECT_EQ(amount_text(11997184, 0, {.convert = true, .fixed = 'M'}), "11.44M");
    EXPECT_EQ(amount_text(2, 'G', {.convert = true, .fixed = 'M'}), "2048M");
}

TEST(Amounts, ProcessorTimeShowsMillisecondsBelowAnHour) {
    EXPECT_EQ(cpu_time_text(4510), "00:00.004");
    EXPECT_EQ(cpu_time_text(65'000'000), "00:01:05");
    EXPECT_EQ(cpu_time_text(65'250'000), "01:05.250");
    EXPECT_EQ(cpu_time_text(93'784'000'000), "1-02:03:04");
}

TEST(Amounts, TresAreInTheOrderOfTheirNames) {
    EXPECT_EQ(sorted_tres("cpu=4,mem=400M,node=2,billing=4,gres/gpu=1,gres/gpu:a=1", true, {}),
              "billing=4,cpu=4,gres/gpu:a=1,gres/gpu=1,mem=400M,node=2");
    EXPECT_EQ(sorted_tres("cpu=4,mem=4G,billing=4", false, {.convert = true, .fixed = 'M'}),
              "cpu=4,mem=4096M");
}

TEST(UsageText, NamesTheMeasuresOfOneDirection) {
    model::StepUsage usage;
    model::add(usage, "mem", false, {.value = 4096, .node = "n1", .task = 0});
    model::add(usage, "mem", false, {.value = 8192, .node = "n2", .task = 1});
    model::add(usage, "cpu", false, {.value = 61'000, .node = "n2", .task = 1});
    model::add(usage, "fs/disk", true, {.value = 7, .node = "n1", .task = 0});
    EXPECT_EQ(figures_text(usage, false, Figure::Max, {}), "cpu=00:01:01,mem=8K");
    EXPECT_EQ(places_text(usage, false, Figure::Max, Where::Node), "cpu=n2,mem=n2");
    EXPECT_EQ(figures_text(usage, true, Figure::Total, {}), "fs/disk=7");
    EXPECT_EQ(figure_text(usage, "mem", false, Figure::Average, {}), "6K");
    EXPECT_EQ(place_text(usage, "mem", false, Figure::Min, Where::Task), "0");
    EXPECT_EQ(figure_text(usage, "vmem", false, Figure::Max, {}), "");
}

TEST(UsageText, TheFrequencyOfTheTasksIsAveragedAndNoTres) {
    model::StepUsage usage;
    EXPECT_EQ(frequency_text(usage, {}), "0");
    model::add(usage, model::kFrequency, false, {.value = 2'440'000, .node = "n1", .task = 0});
    EXPECT_EQ(frequency_text(usage, {}), "2.44M");
    model::add(usage, model::kFrequency, false, {.value = 1'240'000, .node = "n2", .task = 1});
    EXPECT_EQ(average_khz(usage), 1'840'000u);
    EXPECT_EQ(frequency_text(usage, {.convert = false, .fixed = {}}), "1840000");
    EXPECT_EQ(figures_text(usage, false, Figure::Max, {}), "");
    EXPECT_EQ(places_text(usage, false, Figure::Max, Where::Node), "");
}

constexpr Instant at(std::int64_t seconds) { return Instant{Seconds{seconds}}; }

SacctParsed parse(std::vector<std::string> words, Instant now) {
    words.insert(words.begin(), "sacct");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return parse_sacct(static_cast<int>(words.size()), argv.data(), now);
}

TEST(SacctOptions, TheWindowDependsOnStatesAndIds) {
    const Instant now = at(1'800'000'000);
    const SacctParsed plain = parse({}, now);
    EXPECT_LT(plain.options.from, now);
    EXPECT_GE(plain.options.from, now - Seconds{25 * 3600});
    EXPECT_EQ(plain.options.to, now);
    EXPECT_EQ(parse({"-s", "R"}, now).options.from, now);
    EXPECT_EQ(parse({"-j", "7"}, now).options.from, Instant{});
    const SacctParsed both = parse({"-s", "F", "-S", "now-1hour"}, now);
    EXPECT_EQ(both.options.from, now - Seconds{3600});
    EXPECT_EQ(both.options.to, both.options.from);
    EXPECT_EQ(both.options.query.filter.states.size(), 1u);
    EXPECT_TRUE(parse({"-s", "F,R"}, now).options.query.filter.states.empty());
}

TEST(SacctOptions, IdsMayBeRepeatedAndNameSteps) {
    const SacctParsed parsed = parse({"-j", "1,2.batch", "--job", "3_4"}, at(1'800'000'000));
    ASSERT_EQ(parsed.options.query.filter.jobs.size(), 3u);
    EXPECT_EQ(parsed.options.query.filter.jobs[1].step, kBatchStep);
}

model::Job ran(Instant start, Instant end, model::JobState state) {
    model::Job job = format::samples::job(1, format::samples::spec("x"), model::Pending{});
    model::Running run;
    run.started = start;
    model::Outcome outcome;
    outcome.state = state;
    job.submitted = start;
    job.eligible = start;
    job.phase = model::Ended{.run = run, .ended = end, .outcome = outcome};
    return job;
}

TEST(SacctFilter, AFinishedStateMeansItEndedInTheWindowARunningOneThatItRanThen) {
    const model::Job job = ran(at(1000), at(2000), model::JobState::Failed);
    SacctOptions options;
    options.states = {model::JobState::Failed};
    options.from = at(1900);
    options.to = at(2100);
    EXPECT_TRUE(is_wanted(options, job));
    options.from = at(1100);
    options.to = at(1200);
    EXPECT_FALSE(is_wanted(options, job));
    options.states = {model::JobState::Running};
    EXPECT_TRUE(is_wanted(options, job));
    options.states.clear();
    EXPECT_TRUE(is_wanted(options, job));
    options.from = at(2001);
    options.to = at(3000);
    EXPECT_FALSE(is_wanted(options, job));
}

}  // namespace
}  // namespace switchyard::cli::accounting
