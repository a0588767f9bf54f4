// srun_test.cpp: a real stepd runs tasks for a small srun of the test's own: streams, exits,
// signals, terminals, and what happens when srun goes away.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <map>

#include "os/processes.hpp"
#include "stepd/stepd.hpp"
#include "stepd/stepd_fixture.hpp"
#include "wire/key.hpp"

namespace switchyard::stepd {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class SrunTest : public StepdTest {
  protected:
    SrunTest() {
        listener_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string path = dir + "/srun.sock";
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address),
                  0);
        EXPECT_EQ(::listen(listener_.get(), 8), 0);
        wire::LaunchStep& launch = *order.mutable_launch();
        launch.mutable_key()->set_step(0);
        launch.clear_batch();
        wire::StepLaunch& step = *launch.mutable_step();
        step.set_work_dir(work);
        step.set_umask(022);
        step.add_environment("PATH=/usr/local/bin:/usr/bin:/bin");
        step.set_io_unix_path(path);
        step.set_io_host(os::host_name());
        step.set_io_key("0123456789abcdef0123456789abcdef");
        step.set_stdin_to_all(true);
    }

    wire::StepLaunch& command() { return *order.mutable_launch()->mutable_step(); }

    void tasks(std::uint32_t count) {
        wire::StepNode& node = *order.mutable_launch()->mutable_layout()->mutable_nodes(0);
        node.clear_tasks();
        for (std::uint32_t i = 0; i < count; ++i) node.add_tasks(i);
    }

    Pipe accept_srun() {
        return Pipe(io::Fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)),
                    wire::kSrunToStepd);
    }

    // Starts the step and meets it: returns its first message after the greeting.
    wire::StepdToSrun meet(std::vector<std::string> argv) {
        for (const std::string& argument : argv) command().add_argv(argument);
        start();
        srun = accept_srun();
        const auto hello = srun.receive<wire::StepdToSrun>();
        EXPECT_TRUE(hello && hello->has_hello());
        EXPECT_EQ(hello->hello().proof(), wire::stepd_proof(command().io_key()));
        wire::SrunToStepd answer;
        answer.mutable_hello()->set_proof(wire::srun_proof(command().io_key()));
        srun.send(answer);
        EXPECT_EQ(hello->hello().node(), "n1");
        const auto first = srun.receive<wire::StepdToSrun>();
        return first ? *first : wire::StepdToSrun();
    }

    // Everything until the step has finished, by task and stream.
    struct Heard {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> output;
        std::map<std::uint32_t, int> exits;  // Task and wait status.
        std::vector<std::vector<std::uint32_t>> groups;
        std::string text;
        bool finished = false, out_of_memory = false;
    };
    Heard hear() {
        Heard heard;
        while (!heard.finished) {
            const auto message = srun.receive<wire::StepdToSrun>();
            if (!message) break;
            if (message->has_output()) {
                heard.output[{message->output().task(), message->output().stream()}] +=
                    message->output().data();
            }
            if (message->has_text()) heard.text += message->text().text();
            if (message->has_exited()) {
                const auto& ranks = message->exited().tasks();
                heard.groups.emplace_back(ranks.begin(), ranks.end());
                for (const std::uint32_t rank : ranks)
                    heard.exits[rank] = message->exited().wait_status();
                heard.out_of_memory = heard.out_of_memory || message->exited().out_of_memory();
            }
            heard.finished = message->has_finished();
        }
        return heard;
    }

    void input(const std::string& data, bool eof, std::optional<std::uint32_t> task = {}) {
        wire::SrunToStepd message;
        message.mutable_input()->set_data(data);
        message.mutable_input()->set_eof(eof);
        if (task) message.mutable_input()->set_task(*task);
        srun.send(message);
    }

    io::Fd listener_;
    Pipe srun;
};

TEST_F(SrunTest, TasksRunWithTheirRanksAndTheirOutputArrivesBeforeTheEnd) {
    tasks(3);
    const wire::StepdToSrun first = meet(
        {"sh", "-c", "echo out $SLURM_PROCID $SLURM_LOCALID; echo err >&2; exit $SLURM_PROCID"});
    ASSERT_TRUE(first.has_started());
    EXPECT_EQ(first.started().tasks_size(), 3);
    EXPECT_EQ(first.started().pids_size(), 3);
    const Heard heard = hear();
    EXPECT_TRUE(heard.finished);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ((heard.output.at({i, 1})),
                  "out " + std::to_string(i) + " " + std::to_string(i) + "\n");
        EXPECT_EQ((heard.output.at({i, 2})), "err\n");
        EXPECT_EQ(WEXITSTATUS(heard.exits.at(i)), static_cast<int>(i));
    }
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().code(), 2);
    EXPECT_TRUE(end->job_clean());
    let_go();
}

TEST_F(SrunTest, AProgramThatIsNotThereIsNamedOnStandardError) {
    meet({"nosuchcommand"});
    const Heard heard = hear();
    EXPECT_THAT(
        (heard.output.at({0, 2})),
        ContainsRegex(
            "^\\[[-0-9T:.]+\\] error: execve\\(\\): nosuchcommand: No such file or directory\n$"));
    EXPECT_EQ(WEXITSTATUS(heard.exits.at(0)), ENOENT);
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, AMissingFolderIsSaidTwiceAsSlurmDoes) {
    command().set_work_dir("/nonexistent");
    const wire::StepdToSrun first = meet({"pwd"});
    const Heard heard = hear();
    EXPECT_THAT(first.text().text() + heard.text,
                HasSubstr("error: couldn't chdir to `/nonexistent': No such file or directory: "
                          "going to /tmp instead\n"));
    EXPECT_EQ((heard.output.at({0, 1})), "/tmp\n");
    EXPECT_THAT((heard.output.at({0, 2})), HasSubstr("going to /tmp instead\n"));
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, InputGoesToAllTasksAndEndsThem) {
    tasks(2);
    meet({"cat"});
    const std::string big(3u << 20, 'x');
    input(big, false);
    input("end\n", true);
    const Heard heard = hear();
    EXPECT_EQ((heard.output.at({0, 1})), big + "end\n");
    EXPECT_EQ((heard.output.at({1, 1})), big + "end\n");
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, InputForOneTaskLeavesTheOthersWithNone) {
    tasks(2);
    command().set_stdin_task(1);
    meet({"cat"});
    input("only one\n", true, 1);
    const Heard heard = hear();
    EXPECT_EQ((heard.output.at({0, 1})), "");
    EXPECT_EQ((heard.output.at({1, 1})), "only one\n");
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, FilesByPatternAreOnePerTask) {
    tasks(2);
    command().set_std_out("o.%t.%j");
    command().set_std_err("e.%t");
    meet({"sh", "-c", "echo out $SLURM_PROCID; echo err >&2"});
    const Heard heard = hear();
    EXPECT_TRUE(heard.output.empty());
    EXPECT_EQ(read("o.0.12"), "out 0\n");
    EXPECT_EQ(read("o.1.12"), "out 1\n");
    EXPECT_EQ(read("e.1"), "err\n");
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, MultiProgGivesEachTaskItsOwnCommand) {
    tasks(3);
    command().add_multi_prog("0 echo zero");
    command().add_multi_prog("1-2 echo other %t of %o");
    meet({});
    const Heard heard = hear();
    EXPECT_EQ((heard.output.at({0, 1})), "zero\n");
    EXPECT_EQ((heard.output.at({2, 1})), "other 2 of 1\n");
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, SignalsReachTheTasksAndTheirGroups) {
    meet({"sh", "-c", "trap 'echo usr1; exit 5' USR1; echo ready; while :; do sleep 0.01; done"});
    ASSERT_TRUE(srun.receive<wire::StepdToSrun>()->has_output());
    wire::SrunToStepd message;
    message.mutable_signal()->set_signal(SIGUSR1);
    srun.send(message);
    const Heard heard = hear();
    EXPECT_EQ((heard.output.at({0, 1})), "usr1\n");
    EXPECT_EQ(WEXITSTATUS(heard.exits.at(0)), 5);
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, ACancelledStepSaysSoAndItsTasksAreTerminated) {
    tasks(2);
    meet({"sleep", "600"});
    wire::AgentToStepd message;
    message.mutable_end()->set_cause(static_cast<std::uint32_t>(model::EndCause::Cancelled));
    message.mutable_end()->set_grace(30);
    agent.send(message);
    const Heard heard = hear();
    EXPECT_THAT(
        heard.text,
        ContainsRegex("^\\[[-0-9T:.]+\\] error: \\*\\*\\* STEP 12.0 ON n1 CANCELLED AT [-0-9T:]+ "
                      "DUE to SIGNAL Terminated \\*\\*\\*\n$"));
    EXPECT_EQ(WTERMSIG(heard.exits.at(0)), SIGTERM);
    EXPECT_EQ(WTERMSIG(heard.exits.at(1)), SIGTERM);
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().signal(), SIGTERM);
    let_go();
}

TEST_F(SrunTest, WhyItEndsIsSaidOnceAndBeforeSrunGivesUp) {
    meet({"sleep", "600"});
    wire::AgentToStepd message;
    message.mutable_end()->set_cause(static_cast<std::uint32_t>(model::EndCause::Cancelled));
    message.mutable_end()->set_grace(30);
    message.mutable_end()->set_announce(true);
    agent.send(message);
    const auto first = srun.receive<wire::StepdToSrun>();
    ASSERT_TRUE(first && first->has_text());
    EXPECT_THAT(first->text().text(), HasSubstr("DUE to SIGNAL Terminated ***"));
    wire::SrunToStepd abort;
    abort.mutable_abort()->set_grace(30);
    srun.send(abort);
    message.mutable_end()->set_announce(false);
    agent.send(message);
    const Heard heard = hear();
    EXPECT_EQ(heard.text, "");
    EXPECT_EQ(WTERMSIG(heard.exits.at(0)), SIGTERM);
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, AnSrunThatGivesUpAtTheTimeLimitDidSoBecauseOfIt) {
    order.mutable_launch()->set_deadline((os::now() + Millis{900}).time_since_epoch().count());
    meet({"sleep", "600"});
    wire::SrunToStepd abort;
    abort.mutable_abort()->set_grace(30);
    srun.send(abort);
    EXPECT_THAT(hear().text, HasSubstr("DUE TO TIME LIMIT ***"));
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->timed_out());
    let_go();
}

TEST_F(SrunTest, AnAbortForAFailedTaskIsSaid) {
    meet({"sleep", "600"});
    wire::SrunToStepd message;
    message.mutable_abort()->set_cause(static_cast<std::uint32_t>(model::EndCause::TaskFailed));
    message.mutable_abort()->set_grace(30);
    srun.send(message);
    EXPECT_THAT(hear().text, HasSubstr("DUE TO TASK FAILURE ***"));
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, AStepEndsAtItsDeadline) {
    order.mutable_launch()->set_deadline((os::now() + Millis{200}).time_since_epoch().count());
    meet({"sleep", "600"});
    EXPECT_THAT(hear().text, HasSubstr("*** STEP 12.0 ON n1 CANCELLED AT "));
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->timed_out());
    let_go();
}

TEST_F(SrunTest, WhenSrunVanishesItsTasksEnd) {
    const wire::StepdToSrun first = meet({"sleep", "600"});
    const auto task = static_cast<pid_t>(first.started().pids(0));
    srun.close();
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().signal(), SIGTERM);
    const auto left = os::read_process(task);  // Dead and not yet reaped is gone enough.
    EXPECT_FALSE(left && left->state != 'Z');
    let_go();
}

TEST_F(SrunTest, AnSrunThatCannotBeReachedIsALaunchError) {
    command().set_io_unix_path(dir + "/nobody.sock");
    command().add_argv("true");
    start();
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_THAT(end->launch_error(), HasSubstr("cannot reach srun"));
    let_go();
}

TEST_F(SrunTest, ATerminalHasItsSizeAndFollowsChanges) {
    command().set_pty(true);
    command().set_pty_rows(33);
    command().set_pty_cols(111);
    meet({"sh", "-c",
          "tty; stty size; stty -echo; echo ready; read line; stty size; echo got $line "
          "$SLURM_PTY_WIN_COL"});
    std::string seen;
    ASSERT_TRUE(eventually([&] {
        if (const auto message = srun.receive<wire::StepdToSrun>())
            seen += message->output().data();
        return seen.find("ready") != std::string::npos;
    }));
    EXPECT_THAT(seen, ContainsRegex("/dev/pts/[0-9]+\r\n33 111\r\n"));
    wire::SrunToStepd window;
    window.mutable_window()->set_rows(44);
    window.mutable_window()->set_cols(99);
    srun.send(window);
    input("hello\n", false);
    const Heard heard = hear();
    EXPECT_THAT((heard.output.at({0, 1})), HasSubstr("44 99\r\ngot hello 111\r\n"));
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, WhatTasksLeaveBehindDoesNotHoldUpTheStep) {
    const wire::StepdToSrun first = meet({"sh", "-c", "sleep 600 & echo done"});
    ASSERT_TRUE(first.has_started());
    const Heard heard = hear();
    EXPECT_EQ((heard.output.at({0, 1})), "done\n");
    EXPECT_TRUE(heard.finished);
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, TasksThatEndAlikeAreToldOfTogetherInTheEnd) {
    tasks(4);
    meet({"true"});
    const Heard heard = hear();
    std::vector<std::uint32_t> all;
    for (const auto& group : heard.groups) all.insert(all.end(), group.begin(), group.end());
    EXPECT_THAT(all, UnorderedElementsAre(0, 1, 2, 3));
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, ATaskInheritsNothingOfItsStepd) {
    command().set_std_in("/dev/null");
    command().set_std_out("fds");
    command().set_label(true);
    meet({"sh", "-c", "echo /proc/self/fd/*"});
    hear();
    // The shell reads the folder with one more.
    EXPECT_THAT(read("fds"),
                testing::MatchesRegex("0: /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2"
                                      "( /proc/self/fd/3)?\n"));
    ASSERT_TRUE(report());
    let_go();
}

TEST_F(SrunTest, LabelledLinesWaitForTheReaderOfAFifo) {
    const std::string fifo = work + "/fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    command().set_std_out("fifo");
    command().set_label(true);
    for (const char* argument : {"sh", "-c", "yes | head -n 100000"}) command().add_argv(argument);
    start();
    srun = accept_srun();
    const io::Fd reader(::open(fifo.c_str(), O_RDONLY | O_CLOEXEC));
    std::size_t bytes = 0;
    char piece[65536];
    for (ssize_t got = 0; (got = ::read(reader.get(), piece, sizeof piece)) > 0;)
        bytes += static_cast<std::size_t>(got);
    EXPECT_EQ(bytes, 100000u * 5);
    ASSERT_TRUE(report());
    let_go();
}

// The controller repeats its orders; each of them put the end off by as much again.
TEST_F(SrunTest, RepeatedOrdersToEndDoNotPutOffTheEndOfAStepWhoseReaderHasStopped) {
    const std::string fifo = work + "/fifo";
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    const io::Fd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    tasks(2);
    command().set_std_out("fifo");
    command().set_label(true);
    meet({"sh", "-c", "yes | head -n 100000"});
    ASSERT_TRUE(hear().finished);
    wire::AgentToStepd order;
    order.mutable_end()->set_cause(static_cast<std::uint32_t>(model::EndCause::Cancelled));
    order.mutable_end()->set_grace(2);
    bool ended = false;
    const auto begun = std::chrono::steady_clock::now();
    while (!ended && std::chrono::steady_clock::now() - begun < Seconds{20}) {
        agent.send(order);
        const auto message = agent.receive<wire::StepdToAgent>(300);
        ended = message && message->has_status() && message->status().has_report();
    }
    EXPECT_TRUE(ended);
    let_go();
}

// A socket that somebody listens on with their own rights.
class ListensAs {
  public:
    ListensAs(const os::Identity& who, const std::string& path, mode_t mode) {
        fd.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::chmod(path.c_str(), mode), 0);
        const os::ActingAs user(who);  // What the kernel will say of who listens.
        EXPECT_EQ(::listen(fd.get(), 8), 0);
    }
    bool was_dialled() const {
        return io::Fd(::accept4(fd.get(), nullptr, nullptr, SOCK_CLOEXEC)).get() >= 0;
    }
    io::Fd fd;
};

constexpr std::uint32_t kAlice = 54321, kBob = 54322;

TEST_F(SrunTest, ASocketThatTheUserCannotReachIsNotReachedForThem) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    const ListensAs order_socket({}, spool + "/13.0.0.sock", 0600);
    order.mutable_launch()->set_uid(kAlice);
    order.mutable_launch()->set_gid(kAlice);
    order.mutable_launch()->add_groups(kAlice);
    command().set_io_unix_path(spool + "/13.0.0.sock");
    command().add_argv("true");
    start();
    const auto ended = report();
    ASSERT_TRUE(ended);
    EXPECT_THAT(ended->launch_error(), testing::HasSubstr("Permission denied"));
    EXPECT_FALSE(order_socket.was_dialled());
}

TEST_F(SrunTest, WhoeverListensThereMustBeTheUser) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    const ListensAs bobs({kBob, kBob, {kBob}}, dir + "/bob.sock", 0666);
    order.mutable_launch()->set_uid(kAlice);
    order.mutable_launch()->set_gid(kAlice);
    order.mutable_launch()->add_groups(kAlice);
    command().set_io_unix_path(dir + "/bob.sock");
    command().add_argv("true");
    start();
    const auto ended = report();
    ASSERT_TRUE(ended);
    EXPECT_THAT(ended->launch_error(), testing::HasSubstr("user 54322 listens there, not 54321"));
}

TEST_F(SrunTest, AnAddressThatIsANameIsNotLookedUp) {
    command().clear_io_unix_path();
    command().add_io_addresses("srun.example");
    command().set_io_port(1);
    command().add_argv("true");
    start();
    const auto ended = report();
    ASSERT_TRUE(ended);
    EXPECT_THAT(ended->launch_error(), testing::HasSubstr("cannot reach srun"));
}

TEST_F(SrunTest, TheStepsSocketHearsOnlyItsAgent) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root";
    ASSERT_TRUE(meet({"sleep", "300"}).has_started());
    ASSERT_EQ(::chmod(socket_path.c_str(), 0666), 0);
    const pid_t bob = ::fork();
    if (bob == 0) {
        if (!os::become({kBob, kBob, {kBob}})) ::_exit(2);
        Pipe pipe = reconnect();
        wire::AgentToStepd message;
        message.mutable_end()->set_grace(0);
        pipe.send(message);
        ::_exit(pipe.receive<wire::StepdToAgent>(5000) ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(bob, &status, 0), bob);
    EXPECT_EQ(status, 0);
    Pipe root = reconnect();
    wire::AgentToStepd ask;
    ask.mutable_status();
    root.send(ask);
    const auto answer = root.receive<wire::StepdToAgent>();
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->status().ending());
}

}  // namespace
}  // namespace switchyard::stepd
