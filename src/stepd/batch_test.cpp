// batch_test.cpp: a real stepd runs batch scripts: files, exits, deadlines, orders, and what is
// left behind.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "os/processes.hpp"
#include "stepd/stepd.hpp"
#include "stepd/stepd_fixture.hpp"

namespace switchyard::stepd {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST_F(StepdTest, ABatchScriptRunsInItsFolderAndItsExitCodeIsReported) {
    order.mutable_launch()->mutable_batch()->add_arguments("an argument");
    start_batch("echo \"$1 in $PWD\"; echo job $SLURM_JOB_ID; exit 3");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().code(), 3);
    EXPECT_EQ(end->exit().signal(), 0);
    EXPECT_TRUE(end->job_clean());
    EXPECT_EQ(end->launch_error(), "");
    EXPECT_EQ(read("slurm-12.out"), "an argument in " + work + "\njob 12\n");
    let_go();
}

TEST_F(StepdTest, TheReportSaysWhatTheTasksUsed) {
    order.mutable_launch()->set_sample_period(30);
    // It lives until it was looked at: the agent is told of every look.
    start_batch(
        "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done\n"
        "while [ ! -e go ]; do sleep 0.05; done");
    bool looked = false;
    while (!looked) {
        const auto message = agent.receive<wire::StepdToAgent>();
        ASSERT_TRUE(message) << "nobody looked";
        const model::StepUsage seen = wire::decode(message->status().usage());
        looked = model::find_measure(seen, "mem") != nullptr;
    }
    ASSERT_TRUE(os::write_new_file(work + "/go", "", 0666));
    const auto end = report();
    ASSERT_TRUE(end);
    const model::StepUsage usage = wire::decode(end->usage());
    EXPECT_GT(usage.user_us + usage.system_us, 0u);
    const model::UsageMeasure* memory = model::find_measure(usage, "mem");
    ASSERT_NE(memory, nullptr);
    EXPECT_GT(memory->max.value, 500'000u);
    EXPECT_EQ(memory->max.node, order.launch().node());
    EXPECT_EQ(memory->tasks, 1u);
    EXPECT_GT(model::find_measure(usage, "vmem")->total, memory->total);
    EXPECT_GT(model::find_measure(usage, "fs/disk")->total, 0u);
    let_go();
}

TEST_F(StepdTest, OutputNamesFollowThePatternsAndErrorsGoToTheirOwnFile) {
    change_spec([](model::JobSpec& spec) {
        spec.std_out = "%x-%4j.o";
        spec.std_err = "%u.e";
    });
    start_batch("echo out; echo err >&2");
    ASSERT_TRUE(report());
    EXPECT_EQ(read("job-0012.o"), "out\n");
    EXPECT_EQ(read(os::user_name(::getuid()) + ".e"), "err\n");
    let_go();
}

TEST_F(StepdTest, AppendKeepsWhatIsThereAndTruncateIsTheDefault) {
    ASSERT_TRUE(os::write_new_file(work + "/slurm-12.out", "before\n", 0666));
    change_spec([](model::JobSpec& spec) { spec.open_mode = model::OpenMode::Append; });
    start_batch("echo after");
    ASSERT_TRUE(report());
    EXPECT_EQ(read("slurm-12.out"), "before\nafter\n");
    let_go();
}

TEST_F(StepdTest, AnOutputFileThatCannotBeOpenedIsALaunchError) {
    change_spec([](model::JobSpec& spec) { spec.std_out = "/proc/nonexistent/x.out"; });
    start_batch("touch ran");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->launch_error(),
              "Could not open stdout file /proc/nonexistent/x.out: No such file or directory");
    EXPECT_EQ(end->exit().signal(), 53);
    EXPECT_TRUE(end->job_clean());
    EXPECT_FALSE(os::exists(work + "/ran"));
    let_go();
}

TEST_F(StepdTest, TheFoldersOfAnOutputFileAreMadeByItsUser) {
    const bool is_root = ::getuid() == 0;
    if (is_root) {
        order.mutable_launch()->set_uid(54321);
        order.mutable_launch()->set_gid(54321);
        order.mutable_launch()->add_groups(54321);
        ::chmod(work.c_str(), 0777);
    }
    ASSERT_EQ(::chmod(work.c_str(), 0777), 0);
    order.mutable_launch()->mutable_batch()->set_umask(027);
    change_spec([](model::JobSpec& spec) { spec.std_out = "a/%j/out"; });
    start_batch("echo made");
    ASSERT_TRUE(report());
    EXPECT_EQ(read("a/12/out"), "made\n");
    struct stat facts{};
    ASSERT_EQ(::stat((work + "/a/12").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0750u);
    if (is_root) EXPECT_EQ(facts.st_uid, 54321u);
    let_go();
}

TEST_F(StepdTest, AFileIsOpenedAsTheUserWhoMayNotWriteThere) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    order.mutable_launch()->set_uid(54321);
    order.mutable_launch()->set_gid(54321);
    order.mutable_launch()->add_groups(54321);
    ::chmod(work.c_str(), 0755);
    start_batch("id");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_THAT(end->launch_error(), HasSubstr("Permission denied"));
    let_go();
}

TEST_F(StepdTest, AnotherUsersScriptRunsAsThatUser) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    order.mutable_launch()->set_uid(54321);
    order.mutable_launch()->set_gid(54321);
    order.mutable_launch()->add_groups(54321);
    ::chmod(work.c_str(), 0777);
    start_batch("id -u; id -g; stat -c %a:%u $0");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->launch_error(), "");
    EXPECT_EQ(read("slurm-12.out"), "54321\n54321\n700:54321\n");
    let_go();
}

TEST_F(StepdTest, AMissingWorkFolderIsReplacedByTmpWithAMessage) {
    change_spec([this](model::JobSpec& spec) {
        spec.work_dir = "/nonexistent";
        spec.std_out = work + "/out";
    });
    start_batch("pwd");
    ASSERT_TRUE(report());
    EXPECT_THAT(read("out"),
                ContainsRegex("^\\[.*\\] error: couldn't chdir to `/nonexistent': No such file or "
                              "directory: going to /tmp instead\n/tmp\n$"));
    let_go();
}

TEST_F(StepdTest, AtTheDeadlineTheScriptIsEndedAndSaysWhy) {
    order.mutable_launch()->set_deadline((os::now() + Millis{300}).time_since_epoch().count());
    start_batch("echo started; sleep 600");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->timed_out());
    EXPECT_EQ(end->exit().signal(), SIGTERM);
    EXPECT_THAT(
        read("slurm-12.out"),
        ContainsRegex("^started\n\\[[-0-9T:.]+\\] error: \\*\\*\\* JOB 12 ON n1 CANCELLED AT "
                      "[-0-9T:]+ DUE TO TIME LIMIT \\*\\*\\*\n$"));
    let_go();
}

TEST_F(StepdTest, WhoIgnoresSigtermIsKilledAfterKillWait) {
    order.mutable_launch()->set_deadline((os::now() + Millis{200}).time_since_epoch().count());
    start_batch("trap '' TERM; while :; do sleep 0.05; done");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->timed_out());
    EXPECT_EQ(end->exit().signal(), SIGKILL);
    let_go();
}

TEST_F(StepdTest, AnExtendedDeadlineCounts) {
    order.mutable_launch()->set_deadline((os::now() + Millis{400}).time_since_epoch().count());
    start_batch("sleep 0.8; echo done");
    wire::AgentToStepd message;
    message.mutable_deadline()->set_deadline((os::now() + Seconds{100}).time_since_epoch().count());
    agent.send(message);
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_FALSE(end->timed_out());
    EXPECT_EQ(read("slurm-12.out"), "done\n");
    let_go();
}

TEST_F(StepdTest, TheWarningSignalReachesTheBatchShellOnly) {
    change_spec(
        [](model::JobSpec& spec) { spec.warn_signal = {SIGUSR1, Seconds{100}, true, false}; });
    order.mutable_launch()->set_deadline(
        (os::now() + Seconds{100} + Millis{300}).time_since_epoch().count());
    start_batch("trap 'echo warned; exit 7' USR1\nsleep 600 &\nchild=$!\nwait $child\n");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().code(), 7);
    EXPECT_EQ(read("slurm-12.out"), "warned\n");
    let_go();
}

TEST_F(StepdTest, AWarningForTheStepsLeavesTheBatchShellAlone) {
    change_spec(
        [](model::JobSpec& spec) { spec.warn_signal = {SIGUSR1, Seconds{100}, false, false}; });
    order.mutable_launch()->set_deadline(
        (os::now() + Seconds{100} + Millis{100}).time_since_epoch().count());
    start_batch("sleep 0.5; echo untouched");
    ASSERT_TRUE(report());
    EXPECT_EQ(read("slurm-12.out"), "untouched\n");
    let_go();
}

TEST_F(StepdTest, ACancelledJobSaysSo) {
    start_batch("echo > ready; sleep 600");
    ASSERT_TRUE(wait_for_file("ready"));
    cancel();
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().signal(), SIGTERM);
    EXPECT_FALSE(end->timed_out());
    EXPECT_THAT(read("slurm-12.out"), HasSubstr("error: *** JOB 12 ON n1 CANCELLED AT "));
    EXPECT_THAT(read("slurm-12.out"), HasSubstr(" DUE to SIGNAL Terminated ***\n"));
    let_go();
}

TEST_F(StepdTest, TheSrunOfACancelledScriptMayStillSayHowItsStepEnded) {
    // A script's process has the name of the script.
    ASSERT_TRUE(os::write_new_file(work + "/srun",
                                   "#!/bin/sh\ntrap 'sleep 0.2; echo last words; exit' TERM\n"
                                   "echo > ready; while :; do sleep 0.02; done\n",
                                   0755));
    start_batch("./srun & sleep 600");
    ASSERT_TRUE(wait_for_file("ready"));
    cancel();
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().signal(), SIGTERM);
    EXPECT_THAT(read("slurm-12.out"), HasSubstr("last words\n"));
    let_go();
}

TEST_F(StepdTest, ASignalForTheShellIsNotSentToItsChildren) {
    start_batch(
        "trap 'echo usr1' USR1; (trap 'echo child; exit' USR1; echo > ready; while :; do sleep "
        "0.01; done) &\n"
        "while [ ! -e go ]; do sleep 0.01; done");
    ASSERT_TRUE(wait_for_file("ready"));
    wire::AgentToStepd message;
    message.mutable_signal()->set_signal(SIGUSR1);
    message.mutable_signal()->set_batch_shell(true);
    agent.send(message);
    ASSERT_TRUE(eventually([&] { return read("slurm-12.out") == "usr1\n"; }))
        << read("slurm-12.out");
    message.mutable_signal()->set_all_processes(true);
    agent.send(message);
    ASSERT_TRUE(
        eventually([&] { return read("slurm-12.out").find("child") != std::string::npos; }));
    ASSERT_TRUE(os::write_new_file(work + "/go", "", 0644));
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(StepdTest, ASuspendedJobStandsStillAndSoDoesItsDeadline) {
    order.mutable_launch()->set_deadline((os::now() + Millis{700}).time_since_epoch().count());
    start_batch("echo > ready; sleep 0.3; echo done");
    ASSERT_TRUE(wait_for_file("ready"));
    wire::AgentToStepd message;
    message.mutable_freeze();
    agent.send(message);
    // Longer than the deadline would have been.
    ::usleep(900000);
    EXPECT_EQ(read("slurm-12.out"), "");
    message.mutable_freeze()->set_thaw(true);
    agent.send(message);
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_FALSE(end->timed_out());
    EXPECT_EQ(read("slurm-12.out"), "done\n");
    let_go();
}

TEST_F(StepdTest, ASuspendedJobIsWarnedBeforeItStandsStill) {
    start_batch(
        "trap 'echo warned' TSTP; echo > ready; for i in $(seq 60); do sleep 0.05; done; echo "
        "done");
    ASSERT_TRUE(wait_for_file("ready"));
    wire::AgentToStepd message;
    message.mutable_freeze()->set_grace(1);
    agent.send(message);
    // It goes on for the second that it is given, and then no more.
    ASSERT_TRUE(eventually([&] { return read("slurm-12.out") == "warned\n"; }));
    ::usleep(3500000);
    EXPECT_EQ(read("slurm-12.out"), "warned\n");
    message.mutable_freeze()->set_thaw(true);
    agent.send(message);
    ASSERT_TRUE(report());
    EXPECT_EQ(read("slurm-12.out"), "warned\ndone\n");
    let_go();
}

// The kinds of containment: what a script leaves behind dies with it.
class LeftBehind : public StepdTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Kinds, LeftBehind, testing::Values("cgroup/v1", "cgroup/v2", "disabled"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::erase(name, '/');
                             return name;
                         });

TEST_P(LeftBehind, DaemonisedChildrenDieWithTheScript) {
    contain(GetParam());
    if (std::string(GetParam()) != "disabled" && plan.kind != GetParam())
        GTEST_SKIP() << "not on this machine";
    start_batch(
        "(setsid env -i sh -c 'echo $$ > pid; exec sleep 1000' &)\nwhile [ ! -s pid ]; do sleep "
        "0.01; done");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().code(), 0);
    const pid_t daemon = std::atoi(read("pid").c_str());
    ASSERT_GT(daemon, 0);
    const auto left = os::read_process(daemon);  // Dead and not yet reaped is gone enough.
    EXPECT_FALSE(left && left->state != 'Z');
    let_go();
}

TEST_P(LeftBehind, AJobThatPassesItsMemoryLimitRunsOutOfMemory) {
    contain(GetParam());
    if (std::string(GetParam()) != "disabled" && plan.kind != GetParam())
        GTEST_SKIP() << "not on this machine";
    order.mutable_launch()->mutable_job_grant()->set_memory(40);
    start_batch("tail /dev/zero & wait $!; sleep 600");
    const auto pause = std::string(GetParam()) == "cgroup/v1";
    if (pause) {
        // The kernel kills the greedy one only; the script itself goes on.
        ASSERT_TRUE(eventually([&] {
            return os::make_containment(plan)->oom_kills(wire::decode(order.launch().key())) > 0;
        }));
        wire::AgentToStepd message;
        message.mutable_end()->set_grace(0);
        agent.send(message);
    }
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->out_of_memory());
    EXPECT_THAT(read("slurm-12.out"),
                HasSubstr("error: Detected 1 oom_kill event in StepId=12.batch. Some of the "
                          "step tasks have been OOM Killed.\n"));
    let_go();
}

// How often a process has read anything.
std::uint64_t reads_of(pid_t pid) {
    const auto io = os::read_file("/proc/" + std::to_string(pid) + "/io");
    const std::size_t at = io ? io->find("syscr: ") : std::string::npos;
    return at == std::string::npos ? 0 : std::strtoull(io->c_str() + at + 7, nullptr, 10);
}

// Goal: a short step does not pay for the processes of others. Method: there are many of them, and
// what the stepd reads is counted; a step that a busy machine draws out may be looked at, so one of
// several has to be short.
TEST_F(StepdTest, AShortStepWithoutCgroupsIsNotSearchedForAmongAllProcesses) {
    contain("disabled");
    order.mutable_launch()->mutable_job_grant()->set_memory(40);
    std::vector<pid_t> others(300);
    for (pid_t& other : others) {
        other = ::fork();
        if (other == 0) {
            while (true) ::pause();
        }
    }
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (int attempt = 0; attempt < 20 && least >= others.size(); ++attempt) {
        start_batch("exit 0");
        const bool ended = report().has_value();
        EXPECT_TRUE(ended);
        if (!ended) break;
        least = std::min(least, reads_of(pid));
        let_go();
    }
    for (const pid_t other : others) {
        ::kill(other, SIGKILL);
        ::waitpid(other, nullptr, 0);
    }
    EXPECT_GT(least, 0u);
    EXPECT_LT(least, others.size());
}

TEST_F(StepdTest, TheReportWaitsForTheAgentToComeBack) {
    start_batch("exit 4");
    agent.close();
    Pipe second = reconnect();
    wire::AgentToStepd ask;
    ask.mutable_status();
    std::optional<wire::StepdToAgent> answer;
    ASSERT_TRUE(eventually([&] {
        second.send(ask);
        answer = second.receive<wire::StepdToAgent>();
        return answer && answer->status().has_report();
    }));
    EXPECT_EQ(answer->status().report().exit().code(), 4);
    agent = std::move(second);
    let_go();
}

TEST_F(StepdTest, AStepdThatNobodyCanFindAnyMoreGoes) {
    start_batch("exit 0");
    ASSERT_TRUE(report());
    agent.close();
    ::unlink(socket_path.c_str());
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
    pid = 0;
}

TEST_F(StepdTest, AnAgentThatDiesBeforeTheLaunchLeavesNothing) {
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    pid = ::fork();
    if (pid == 0) {
        ::dup2(::fcntl(pair[1], F_DUPFD, 10), 3);
        ::close_range(4, ~0u, 0);
        ::_exit(stepd_main(0, nullptr));
    }
    ::close(pair[0]);
    ::close(pair[1]);
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
    pid = 0;
}

TEST_F(StepdTest, ANextAgentDoesNotKeepAStepdThatWasNeverTold) {
    spawn();
    Pipe second = reconnect();
    wire::AgentToStepd ask;
    ask.mutable_status();
    second.send(ask);
    ASSERT_TRUE(second.receive<wire::StepdToAgent>());
    agent.close();
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
    pid = 0;
    EXPECT_FALSE(os::exists(socket_path));  // So the next agent finds no step.
}

TEST_F(StepdTest, SignalsToTheStepdItselfDoNotDisturbIt) {
    start_batch("echo > ready; while [ ! -e go ]; do sleep 0.01; done; echo done");
    ASSERT_TRUE(wait_for_file("ready"));
    for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGPIPE}) ::kill(pid, signal);
    ASSERT_TRUE(os::write_new_file(work + "/go", "", 0644));
    ASSERT_TRUE(report());
    EXPECT_EQ(read("slurm-12.out"), "done\n");
    let_go();
}

TEST_F(StepdTest, PretendNodesResolveInsideTheJob) {
    wire::HostAddress& host = *order.mutable_launch()->add_hosts();
    host.set_name("sy-pretend-1");
    host.set_address("vm");
    wire::HostAddress& other = *order.mutable_launch()->add_hosts();
    other.set_name("sy-pretend-2");
    other.set_address("10.1.2.3");
    order.mutable_setup()->set_pretend(true);
    start_batch(
        "getent hosts sy-pretend-1 sy-pretend-2; grep -c localhost /etc/hosts > /dev/null && echo "
        "kept");
    ASSERT_TRUE(report());
    EXPECT_THAT(read("slurm-12.out"),
                ContainsRegex("^127.0.0.1 +sy-pretend-1\n10.1.2.3 +sy-pretend-2\n"));
    EXPECT_EQ(os::read_file("/etc/hosts")->find("sy-pretend"), std::string::npos);
    let_go();
}

TEST_F(StepdTest, PrologAndEpilogRunAroundTheScriptAsTheUser) {
    ASSERT_TRUE(os::write_new_file(
        dir + "/prolog", "#!/bin/sh\necho export FROM_PROLOG=yes\necho print hello\n", 0755));
    ASSERT_TRUE(os::write_new_file(
        dir + "/epilog", "#!/bin/sh\necho $SLURM_JOB_ID $FROM_PROLOG > epilog.ran\n", 0755));
    order.mutable_launch()->set_task_prolog(dir + "/prolog");
    order.mutable_launch()->set_task_epilog(dir + "/epilog");
    start_batch("echo from prolog: $FROM_PROLOG");
    ASSERT_TRUE(report());
    EXPECT_EQ(read("slurm-12.out"), "hello\nfrom prolog: yes\n");
    EXPECT_EQ(read("epilog.ran"), "12 yes\n");
    let_go();
}

TEST_F(StepdTest, AFailingPrologKeepsTheScriptFromRunning) {
    order.mutable_launch()->set_task_prolog("/bin/false");
    start_batch("touch ran");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_THAT(end->launch_error(), HasSubstr("/bin/false failed status=256"));
    EXPECT_FALSE(os::exists(work + "/ran"));
    let_go();
}

TEST_F(StepdTest, ListsItsProcesses) {
    start_batch("echo > ready; sleep 600");
    ASSERT_TRUE(wait_for_file("ready"));
    wire::AgentToStepd ask;
    ask.mutable_pids()->set_id(5);
    agent.send(ask);
    const auto answer = agent.receive<wire::StepdToAgent>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->pids().id(), 5u);
    ASSERT_GE(answer->pids().pids_size(), 1);
    EXPECT_EQ(answer->pids().pids(0).step(), kBatchStep.value);
    EXPECT_TRUE(answer->pids().pids(0).has_local_id());
    wire::AgentToStepd message;
    message.mutable_end()->set_grace(0);
    agent.send(message);
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().signal(), SIGKILL);
    let_go();
}

class HeldUp : public StepdTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Streams, HeldUp, testing::Values("in", "out", "err"));

TEST_P(HeldUp, AFifoWithoutAnotherEndHoldsUpTheScriptAndNotItsEnd) {
    const std::string fifo = work + "/fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    change_spec([&](model::JobSpec& spec) {
        const std::string stream = GetParam();
        (stream == "in" ? spec.std_in : stream == "out" ? spec.std_out : spec.std_err) = fifo;
    });
    start_batch("echo ran > ran");
    wire::AgentToStepd ask;
    ask.mutable_status();
    agent.send(ask);
    ASSERT_TRUE(agent.receive<wire::StepdToAgent>(10000)) << "it does not listen";
    cancel();
    const auto ended = report();
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->exit().signal(), SIGTERM);
    EXPECT_FALSE(os::exists(work + "/ran"));
    let_go();
}

TEST_F(StepdTest, APrologThatClosesItsOutputAndStaysHoldsUpNobody) {
    ASSERT_TRUE(
        os::write_new_file(dir + "/prolog", "#!/bin/sh\nexec >&- 2>&-\nexec sleep 600\n", 0755));
    order.mutable_launch()->set_task_prolog(dir + "/prolog");
    start_batch("echo ran > ran");
    wire::AgentToStepd ask;
    ask.mutable_status();
    agent.send(ask);
    ASSERT_TRUE(agent.receive<wire::StepdToAgent>(10000)) << "it does not listen";
    cancel();
    const auto ended = report();
    ASSERT_TRUE(ended);
    EXPECT_NE(ended->exit().signal(), 0u);
    EXPECT_FALSE(os::exists(work + "/ran"));
    let_go();
}

TEST_F(StepdTest, AnEpilogThatStaysEndsWithTheStep) {
    ASSERT_TRUE(os::write_new_file(
        dir + "/epilog", "#!/bin/sh\necho > epilog.ran\nexec >&- 2>&-\nexec sleep 600\n", 0755));
    order.mutable_launch()->set_task_epilog(dir + "/epilog");
    start_batch("true");
    ASSERT_TRUE(wait_for_file("epilog.ran"));
    cancel();
    ASSERT_TRUE(report());
    let_go();
}

}  // namespace
}  // namespace switchyard::stepd
