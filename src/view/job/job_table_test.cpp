// Goal: what squeue prints for jobs and steps in every state. Method: sample jobs in, text out.
#include "view/job/job_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/text.hpp"
#include "view/job/job_facts.hpp"
#include "view/testing/samples.hpp"

namespace switchyard::view {
namespace {

using samples::grant;
using samples::job;
using samples::minutes;
using samples::moment;
using samples::pending;
using samples::running;
using samples::spec;

class JobTableTest : public testing::Test {
  protected:
    void SetUp() override {
        setenv("TZ", "UTC", 1);
        tzset();
        view_.now = moment(23);
    }

    std::string print(const std::vector<model::Job>& jobs, const TableRequest& request,
                      JobTable::Split split = {}) const {
        const auto table = JobTable::make(request);
        if (!table) return table.error().message;
        SortedLines lines;
        for (const model::Job& each : jobs) table->add(lines, each, view_, split);
        std::string text = table->header();
        lines.take([&](std::string_view line) { text += line; });
        return text;
    }
    // Rows only.
    std::string print(const model::Job& one, const std::string& format) const {
        const std::string text = print({one}, {format, "", ""});
        return text.substr(text.find('\n') + 1);
    }
    std::string print_long(const model::Job& one, const std::string& format) const {
        const std::string text = print({one}, {"", format, ""});
        return text.substr(text.find('\n') + 1);
    }

    ViewContext view_;
};

model::Job big() {
    model::JobSpec of = spec("big-one-of-mine");
    of.nodes_min = of.nodes_max = 4;
    of.exclusive = model::Exclusive::Node;
    of.time_limit = minutes(60);
    model::Job made = job(129, of, pending(model::Reason::Resources));
    made.priority = 6562;
    return made;
}

model::Job two_nodes() {
    model::JobSpec of = spec("twonode");
    of.nodes_min = of.nodes_max = 2;
    of.tasks_per_node = 2;
    of.time_limit = minutes(20);
    return job(125, of, running({grant("n1", 2), grant("n2", 2)}, 14, 20));
}

model::Job array_block() {
    model::JobSpec of = spec("arr");
    of.time_limit = minutes(10);
    model::Job made = job(126, of, pending(model::Reason::JobArrayTaskLimit));
    model::ArrayPlace place;
    place.array_id = JobId{126};
    place.pending = model::IndexSet::range(3, 8);
    place.throttle = 2;
    made.array = place;
    return made;
}

model::Job array_element() {
    model::Job made = job(127, *array_block().spec, running({grant("n1", 1)}, 17, 10));
    model::ArrayPlace place;
    place.array_id = JobId{126};
    place.element = 1;
    made.array = place;
    return made;
}

TEST_F(JobTableTest, ALineMayBeAsLongAsItIs) {
    model::JobSpec of = spec("name");
    of.comment = std::string(10'000, 'c');
    const model::Job long_one = job(7, of, model::Pending{});
    EXPECT_EQ(print(long_one, "%k|%A"), of.comment + "|7\n");
    EXPECT_EQ(print(long_one, "%.4096A|%j"), std::string(4095, ' ') + "7|name\n");
    EXPECT_EQ(print({}, {"%4096A|", "", ""}), "JOBID" + std::string(4091, ' ') + "|\n");
}

TEST_F(JobTableTest, ARowIsOneLineWhateverItsTextsHold) {
    const model::Job one = job(7, spec("a\nb\x1b[2J"), model::Pending{});
    EXPECT_EQ(print(one, "%j %A"), "a\\012b\\033[2J 7\n");
    EXPECT_EQ(print(one, "%.5j %A"), "a\\012 7\n");
    EXPECT_EQ(print_long(one, "JobID:5,Name"), "7    a\\012b\\033[2J       \n");
    EXPECT_EQ(print(job(7, spec("größe"), model::Pending{}), "%j %A"), "größe 7\n");
}

TEST_F(JobTableTest, WhereBarsStandBetweenCellsThereAreNoneWithin) {
    const model::Job one = job(7, spec("a|b"), model::Pending{});
    EXPECT_EQ(print(one, "%j %A"), "a|b 7\n");
    EXPECT_EQ(print(one, "%j|%A"), "a\\174b|7\n");
}

TEST_F(JobTableTest, ListsByPartitionStateAndPriority) {
    model::JobSpec elsewhere = spec("other");
    elsewhere.partitions = {"closed"};
    const model::Job closed = job(133, elsewhere, pending(model::Reason::PartitionDown));
    EXPECT_EQ(
        print({two_nodes(), array_block(), big(), closed, array_element()}, {}),
        "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n"
        "               133    closed    other    alice PD       0:00      1 (PartitionDown)\n"
        "               129     debug big-one-    alice PD       0:00      4 (Resources)\n"
        "       126_[3-8%2]     debug      arr    alice PD       0:00      1 (JobArrayTaskLimit)\n"
        "             126_1     debug      arr    alice  R       0:06      1 n1\n"
        "               125     debug  twonode    alice  R       0:09      2 n[1-2]\n");
}

TEST_F(JobTableTest, TheLongFormatShowsStateAndLimit) {
    EXPECT_EQ(print({big(), two_nodes()}, {std::string(kJobFormatLong), "", ""}),
              "             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES "
              "NODELIST(REASON)\n"
              "               129     debug big-one-    alice  PENDING       0:00   1:00:00      4 "
              "(Resources)\n"
              "               125     debug  twonode    alice  RUNNING       0:09     20:00      2 "
              "n[1-2]\n");
}

TEST_F(JobTableTest, AnArrayCanBeListedElementByElement) {
    JobTable::Split split;
    split.each_element = true;
    EXPECT_EQ(print({array_block()}, {"%i %K %F %A", "", ""}, split),
              "JOBID ARRAY_TASK_ID ARRAY_JOB_ID JOBID\n"
              "126_3 3 126 126\n126_4 4 126 126\n126_5 5 126 126\n126_6 6 126 126\n"
              "126_7 7 126 126\n126_8 8 126 126\n");
}

TEST_F(JobTableTest, AWaitingJobShowsAllItsPartitionsOrOneALine) {
    model::JobSpec of = spec("many");
    of.partitions = {"gpu", "debug"};
    const model::Job one = job(7, of, pending(model::Reason::Priority));
    EXPECT_EQ(print(one, "%P"), "gpu,debug\n");
    JobTable::Split split;
    split.each_partition = true;
    EXPECT_EQ(print({one}, {"%P", "", "P"}, split), "PARTITION\ndebug\ngpu\n");
}

TEST_F(JobTableTest, LongNamesHaveTheirHeadingsAndWidths) {
    EXPECT_EQ(print({two_nodes()}, {"", "JobID:.8,Name:8|,State,tres-alloc:#", ""}),
              "   JOBIDNAME    |STATE               TRES_ALLOC#\n"
              "     125twonode |RUNNING             cpu=4,mem=400M,node=2,billing=4#\n");
}

TEST_F(JobTableTest, SizesOfAWaitingJobAreWhatItNeeds) {
    EXPECT_EQ(print(big(), "%D %C %c %m %h %n|%x|%z"), "4 4 1 100M NO ||*:*:*\n");
    model::JobSpec of = spec("tasks");
    of.tasks = 5;
    of.tasks_per_node = 2;
    of.cpus_per_task = 3;
    EXPECT_EQ(print(job(1, of, pending(model::Reason::None)), "%D %C %c"), "3 18 6\n");
}

TEST_F(JobTableTest, UnknownThingsHaveSlurmsWords) {
    model::JobSpec of = spec("bare");
    of.time_limit.reset();
    of.account.clear();
    EXPECT_EQ(
        print(job(1, of, pending(model::Reason::None)), "%a|%b|%e|%f|%k|%l|%L|%o|%v|%B|%E|%S|%Y"),
        "(null)|N/A|N/A|(null)|(null)|NOT_SET|NOT_SET|(null)|(null)|n/a|(null)|N/A|(null)\n");
}

TEST_F(JobTableTest, TimesOfARunningJob) {
    EXPECT_EQ(print(two_nodes(), "%S %e %M %L %V"),
              "2026-11-15T01:44:14 2026-11-15T02:04:14 0:09 19:51 2026-11-15T01:44:17\n");
    const model::Job endless = job(1, spec("endless"), running({grant("n1", 1)}, 0, 0));
    EXPECT_EQ(print(endless, "%e %L %l"), "NONE UNLIMITED UNLIMITED\n");
    view_.time_format = "%s";
    EXPECT_EQ(print(two_nodes(), "%S"), "1794707054\n");
}

TEST_F(JobTableTest, AJobThatWaitsForItsBeginningShowsIt) {
    model::Pending later = pending(model::Reason::BeginTime);
    later.eligible_at = moment(3617);
    const model::Job one = job(132, spec("later"), later);
    EXPECT_EQ(print(one, "%S %e %R"), "2026-11-15T02:44:17 NONE (BeginTime)\n");
}

TEST_F(JobTableTest, PriorityIsAlsoAFractionOfTheLargest) {
    EXPECT_EQ(print(big(), "%p %Q"), "0.00000152783468 6562\n");
}

TEST_F(JobTableTest, AFailedJobShowsWhyAndACancelledOneWhere) {
    model::Ended over;
    over.run = running({grant("n2", 1)}, 0, 10);
    over.ended = moment(10);
    over.outcome.state = model::JobState::Failed;
    over.outcome.reason = model::Reason::NonZeroExitCode;
    over.outcome.exit = {3, 0};
    EXPECT_EQ(print(job(9, spec("x"), over), "%t %T %R %M"), "F FAILED (NonZeroExitCode) 0:10\n");
    EXPECT_EQ(print_long(job(9, spec("x"), over), "exit_code:"), "3:0\n");
    over.outcome.state = model::JobState::Cancelled;
    over.outcome.reason = model::Reason::None;
    EXPECT_EQ(print(job(9, spec("x"), over), "%t %R"), "CA n2\n");
    over.run.reset();
    EXPECT_EQ(print(job(9, spec("x"), over), "%t %R|%N"), "CA |\n");
}

TEST_F(JobTableTest, TheNodeThatFailedIsKnownWhereThereWasOne) {
    model::Ended over;
    over.run = running({grant("n2", 1)}, 0, 10);
    over.ended = moment(10);
    over.outcome.state = model::JobState::NodeFail;
    over.outcome.reason = model::Reason::NodeFail;
    EXPECT_EQ(failed_node(job(9, spec("x"), over)), "n2");
    over.run = running({grant("n1", 1), grant("n2", 1)}, 0, 10);
    EXPECT_EQ(failed_node(job(9, spec("x"), over)), "");
    over.run = running({grant("n2", 1)}, 0, 10);
    over.outcome.reason = model::Reason::NonZeroExitCode;
    EXPECT_EQ(failed_node(job(9, spec("x"), over)), "");
}

TEST_F(JobTableTest, ACompletingJobShowsTheNodesThatAreLeft) {
    model::Completing ending;
    ending.run = running({grant("n1", 1), grant("n2", 1), grant("n3", 1)}, 0, 10);
    ending.ended = moment(10);
    ending.dirty_nodes = {"n2", "n3"};
    EXPECT_EQ(print(job(9, spec("x"), ending), "%t %D %N %R %M"), "CG 2 n[2-3] n[2-3] 0:10\n");
}

TEST_F(JobTableTest, ARunThatIsQueuedAgainCountsForNothing) {
    model::Completing ending;
    ending.run = running({grant("n1", 1)}, 0, 10);
    ending.ended = moment(10);
    ending.dirty_nodes = {"n1"};
    ending.next = model::Completing::Next::Requeue;
    EXPECT_EQ(print(job(9, spec("x"), ending), "%t %M %R %e"), "CG 0:00 n1 N/A\n");
}

TEST_F(JobTableTest, MemoryIsConvertedUnlessToldNotTo) {
    model::JobSpec of = spec("mem");
    of.memory = {model::MemoryRequest::Per::Node, {2048}};
    const model::Job one = job(1, of, pending(model::Reason::None));
    EXPECT_EQ(print(one, "%m"), "2G\n");
    view_.convert_units = false;
    EXPECT_EQ(print(one, "%m"), "2048M\n");
}

TEST_F(JobTableTest, EverySortLetterIsReadAndABadOneIsNamed) {
    EXPECT_EQ(print({two_nodes(), array_element(), big()}, {"%A", "", "-i"}),
              "JOBID\n129\n127\n125\n");
    EXPECT_EQ(print({two_nodes(), array_element(), big()}, {"%A", "", "M,i"}),
              "JOBID\n129\n127\n125\n");
    EXPECT_EQ(print({two_nodes(), big()}, {"%A", "", "S"}), "JOBID\n125\n129\n");
    EXPECT_EQ(print({two_nodes(), array_element()}, {"%j", "", "b,-j"}), "NAME\ntwonode\narr\n")
        << "cards give no order";
    EXPECT_EQ(print({two_nodes(), big()}, {"%A", "", "-C,c"}), "JOBID\n129\n125\n");
    EXPECT_EQ(print({big()}, {"%A", "", "!"}), "Invalid sort specification: !");
    for (const char letter : std::string_view("akoqrswxyAEFKRWXYZ")) {
        EXPECT_EQ(print({big()}, {"%A", "", std::string(1, letter)}),
                  fmt::format("Invalid sort specification: {}", letter));
    }
}

TEST_F(JobTableTest, NamesAndLettersThatAreListedExistInAnyCase) {
    for (const std::string_view name : job_field_names()) {
        std::string upper(name);
        for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        for (const std::string& typed : {std::string(name), to_lower(name), upper}) {
            EXPECT_TRUE(JobTable::make({"", typed, ""})->unknown_fields().empty()) << typed;
        }
    }
    for (const char letter : kJobHelpLetters) {
        const std::string format = fmt::format("%{}", letter);
        EXPECT_TRUE(JobTable::make({format, "", ""})->unknown_fields().empty()) << letter;
    }
}

TEST_F(JobTableTest, AJobBehindOthersThatWasToldWhenToBeginShowsThatMoment) {
    model::JobSpec of = spec("later");
    of.time_limit = minutes(10);
    const model::Job behind = job(132, of, pending(model::Reason::Dependency));
    EXPECT_EQ(print_long(behind, "EligibleTime:|,AccrueTime:|,StartTime:"), "N/A|N/A|N/A\n");
    of.begin = moment(3617);
    const model::Job later = job(132, of, pending(model::Reason::Dependency));
    EXPECT_EQ(print_long(later, "EligibleTime:|,AccrueTime:|,StartTime:|,EndTime:"),
              "2026-11-15T02:44:17|2026-11-15T02:44:17|2026-11-15T02:44:17|2026-11-15T02:54:17\n");
}

TEST_F(JobTableTest, AFieldThatDoesNotExistIsPrintedAsTypedAndNamed) {
    const auto table = JobTable::make({"%A %! x", "", ""});
    ASSERT_TRUE(table);
    EXPECT_EQ(table->unknown_fields(), std::vector<std::string>{"!"});
    EXPECT_EQ(print(big(), "%A %! x"), "129 %! x\n");
}

TEST_F(JobTableTest, AllFieldsHaveAHeadingAndAValue) {
    const std::string text = print({big()}, {"%all", "", ""});
    const std::size_t end = text.find('\n');
    const auto bars = [](std::string_view line) { return std::ranges::count(line, '|'); };
    EXPECT_EQ(bars(text.substr(0, end)), 51);
    EXPECT_EQ(bars(text.substr(end)), 51);
    for (const Field<JobRow>& field : job_fields()) {
        const model::Job one = big();
        EXPECT_FALSE(field.header.empty()) << field.name;
        (void)field.text({one, view_, {}, {}});
    }
}

TEST_F(JobTableTest, StepsCarryTheirJobsPartitionAndUser) {
    model::Step step;
    step.key = {JobId{127}, {}, StepId{0}};
    step.spec.name = "train";
    step.layout.nodes = {{grant("n1", 2), {0, 1}}, {grant("n2", 1), {2}}};
    step.started = moment(20);
    const model::Job one = array_element();
    const auto table = StepTable::make({});
    ASSERT_TRUE(table);
    SortedLines lines;
    table->add(lines, {step, one, view_});
    std::string text = table->header();
    lines.take([&](std::string_view line) { text += line; });
    EXPECT_EQ(text,
              "         STEPID     NAME PARTITION     USER      TIME NODELIST\n"
              "        126_1.0    train     debug    alice      0:03 n[1-2]\n");
}

TEST_F(JobTableTest, ABatchStepCountsForNothingAndAComponentsStepsBearItsOwnNumber) {
    const auto line = [&](const model::Job& of, StepId id, const std::string& format) {
        model::Step step;
        step.key = {of.id, {}, id};
        step.layout.nodes = {{grant("n1", 2), {0, 1}}};
        step.started = moment(20);
        SortedLines lines;
        StepTable::make({"", format, "Q"})->add(lines, {step, of, view_});
        std::string text;
        lines.take([&](std::string_view each) { text += each; });
        return text;
    };
    const std::string format = "StepID:|,NumCPUs:|,CPUFreq:|,ResvPorts:|,tres-per-node:";
    EXPECT_EQ(line(two_nodes(), kBatchStep, format), "125.batch|0|0-0:0|(null)|(null)\n");
    EXPECT_EQ(line(two_nodes(), StepId{0}, format),
              "125.0|2|Unknown-Unknown:Unknown|(null)|(null)\n");
    EXPECT_EQ(line(array_element(), kBatchStep, "StepID:"), "126_1.batch\n");
    model::Job component = two_nodes();
    component.het = model::HetPlace{.leader = JobId{124}, .offset = 1, .size = 2};
    EXPECT_EQ(line(component, kBatchStep, "StepID:"), "125.batch\n");
    EXPECT_EQ(StepTable::make({"%all", "", ""})->header(),
              "TRES_PER_JOB|STEPID|NAME|TIME_LIMIT|USER|TASKS|TIME|NODELIST|PARTITION|START_TIME|"
              "UID|\n");
    EXPECT_EQ(StepTable::make({"", "Name,NodeList,StepName", ""})->unknown_fields(),
              (std::vector<std::string>{"Name", "NodeList"}));
}

TEST_F(JobTableTest, TheUsualFormatsNeedNoMoreOfAJobThanALine) {
    const auto is_brief = [](const TableRequest& request) {
        return JobTable::make(request)->is_brief();
    };
    EXPECT_TRUE(is_brief({}));
    EXPECT_TRUE(is_brief({std::string(kJobFormatLong), "", ""}));
    EXPECT_TRUE(is_brief({"", "JobID,State,ReasonList:40", "-M,i"}));
    EXPECT_FALSE(is_brief({"%i %a", "", ""})) << "the account";
    EXPECT_FALSE(is_brief({"%i", "", "m"})) << "in the order of memory";
    EXPECT_FALSE(is_brief({"", "JobID,STDOUT", ""})) << "a field without a letter";
}

}  // namespace
}  // namespace switchyard::view
