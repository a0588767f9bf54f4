// script_test.cpp: the head of batch scripts as people write them.
#include "options/script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "options/parse.hpp"

namespace switchyard::options {
namespace {

using testing::ElementsAre;

std::vector<std::vector<std::string>> words_of(std::string_view script) {
    std::vector<std::vector<std::string>> lines;
    for (Directive& directive : scan_directives(script))
        lines.push_back(std::move(directive.words));
    return lines;
}
using Words = std::vector<std::string>;

TEST(Script, TrailingCommentsAreNoOptions) {
    EXPECT_THAT(
        words_of("#!/bin/bash\n"
                 "#SBATCH --job-name=torch-test    # 提交的作业的名字\n"
                 "#SBATCH --nodes=1                #* 使用的节点数\n"
                 "#SBATCH --comment=a#b # c\n"),
        ElementsAre(Words{"--job-name=torch-test"}, Words{"--nodes=1"}, Words{"--comment=a#b"}));
}

TEST(Script, DirectivesEndAtTheFirstCommand) {
    EXPECT_THAT(words_of("#!/bin/bash\n\n  \t\n# plain comment\n  # indented comment\n#SBATCH -N1\n"
                         "echo hello\n#SBATCH -N2\n"),
                ElementsAre(Words{"-N1"}));
}

TEST(Script, DoubledAndIndentedAndForeignDirectivesAreComments) {
    EXPECT_THAT(
        words_of("#!/bin/bash\n##SBATCH --exclusive\n #SBATCH -N3\n#PBS -l nodes=2\n#BSUB -n 4\n"
                 "#SBATCHES -N4\n#SBATCH\n#SBATCH -N1\n"),
        ElementsAre(Words{"-N1"}));
}

TEST(Script, TabsAndSeveralOptionsOnALine) {
    EXPECT_THAT(words_of("#!/bin/bash\n#SBATCH\t-J\tname\t-N 2  --exclusive\n"),
                ElementsAre(Words{"-J", "name", "-N", "2", "--exclusive"}));
}

TEST(Script, QuotesAndBackslashesProtect) {
    EXPECT_THAT(
        words_of("#!/bin/bash\n#SBATCH --comment=\"two words # kept\" --job-name='it\"s' -o a\\ b\n"
                 "#SBATCH --wckey='a\\b' --qos=\"x\\\"y\"\n"),
        ElementsAre(Words{"--comment=two words # kept", "--job-name=it\"s", "-o", "a b"},
                    Words{"--wckey=a\\b", "--qos=x\"y"}));
}

TEST(Script, LinesAreCountedFromOne) {
    const auto directives = scan_directives("#!/bin/sh\n\n#SBATCH -N1");
    ASSERT_EQ(directives.size(), 1u);
    EXPECT_EQ(directives[0].line, 3u);
}

TEST(Script, ATypicalTrainingScript) {
    JobRequest request;
    const Surroundings world{.now = {}, .work_dir = "/home/alice", .environment = {}};
    const auto fault =
        apply_script(request,
                     scan_directives("#!/bin/bash\n"
                                     "#SBATCH --job-name=ddp-torch     # a short name\n"
                                     "#SBATCH -p debug\n"
                                     "#SBATCH --nodes=2                # node count\n"
                                     "#SBATCH --ntasks-per-node=1      # (>1 if multi-threaded)\n"
                                     "#SBATCH --cpus-per-task=32\n"
                                     "#SBATCH --mem=32G                # total memory per node\n"
                                     "#SBATCH --time=1:00:00          # (HH:MM:SS)\n"
                                     "#SBATCH -o logs/out%j.log\n"
                                     "#SBATCH -e logs/err%j.log\n"
                                     "\nexport MASTER_PORT=1\n"),
                     world);
    ASSERT_FALSE(fault) << fault->text;
    EXPECT_EQ(request.job.name, "ddp-torch");
    EXPECT_EQ(request.job.nodes_min, 2u);
    EXPECT_EQ(request.job.cpus_per_task, 32u);
    EXPECT_EQ(request.job.memory.amount.value, 32768u);
    EXPECT_EQ(request.job.time_limit->seconds, Seconds{3600});
    EXPECT_EQ(request.job.std_err, "logs/err%j.log");
}

TEST(Script, WordsThatAreNoOptionsAreRefused) {
    JobRequest request;
    const auto fault = apply_script(request, {{.line = 2, .words = {"gres=gpu:1"}}}, {});
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->text, "Invalid directive found in batch script: gres=gpu:1");
}

TEST(Script, AnUnknownDirectiveIsToldWithItsWholeWord) {
    JobRequest request;
    testing::internal::CaptureStderr();
    const auto fault = apply_script(request, {{.line = 2, .words = {"--nosuch=1"}}}, {});
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "sbatch: unrecognized option '--nosuch=1'\n");
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, Fault::Kind::Unrecognized);
}

TEST(Script, BadScriptsAreToldInSlurmsWords) {
    EXPECT_FALSE(check_script("#!/bin/sh\n"));
    EXPECT_THAT(check_script("echo hi\n")->lines,
                ElementsAre("This does not look like a batch script.  The first",
                            "line must start with #! followed by the path to an interpreter.",
                            "For instance: #!/bin/sh"));
    EXPECT_THAT(check_script("#!/bin/sh\r\necho\r\n")->lines,
                ElementsAre("Batch script contains DOS line breaks (\\r\\n)",
                            "instead of expected UNIX line breaks (\\n)."));
    EXPECT_THAT(check_script("")->lines, ElementsAre("Batch script is empty!"));
    EXPECT_THAT(check_script(" \n\t\n")->lines,
                ElementsAre("Batch script contains only whitespace!"));
    EXPECT_TRUE(check_script(std::string_view("#!/bin/sh\n\0", 11)));
    EXPECT_TRUE(check_script("#!" + std::string(limits::kScriptBytesMax, 'x')));
}

}  // namespace
}  // namespace switchyard::options
