// The controller end to end, with commands and agents played by the test: jobs, and what is
// promised of them when the disk is full or the controller is killed.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <set>

#include "base/limits.hpp"
#include "controller/turn/controller_fixture.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace switchyard::controller {
namespace {

using Body = wire::ControllerToAgent::BodyCase;
using testing::HasSubstr;

TEST_F(ControllerFixture, AJobIsLaunchedWithItsScriptAndEndsAsItsNodeReports) {
    start();
    const auto node = agent("n1");
    EXPECT_TRUE(node->orders.front().registered().accepted());
    const auto shell = client();
    const std::uint32_t job = submit(*shell);
    run_until([&] { return node->find(Body::kLaunch) != nullptr; });

    const wire::LaunchStep launch = node->find(Body::kLaunch)->launch();
    EXPECT_EQ(launch.key().job(), job);
    EXPECT_EQ(launch.key().step(), kBatchStep.value);
    EXPECT_EQ(launch.node(), "n1");
    EXPECT_EQ(launch.cluster(), "test");
    EXPECT_EQ(launch.batch().script(), "#!/bin/sh\ntrue\n");
    ASSERT_EQ(launch.batch().environment_size(), 1);
    EXPECT_EQ(launch.batch().environment(0), "COLOUR=green");
    EXPECT_EQ(launch.uid(), ::geteuid()) << "the caller's, not the message's";
    EXPECT_EQ(launch.job_grant().node(), "n1");
    EXPECT_EQ(launch.layout().nodes_size(), 1);
    ASSERT_EQ(launch.hosts_size(), 1);
    EXPECT_EQ(launch.hosts(0).address(), "127.0.0.1");
    EXPECT_EQ(state_of(*shell, job), model::JobState::Running);

    report_end(*node, launch.key());
    run_until([&] { return node->find(Body::kEndKnown) != nullptr; });
    EXPECT_EQ(state_of(*shell, job), model::JobState::Completed);
}

TEST_F(ControllerFixture, AFailedScriptMakesAFailedJob) {
    start();
    const auto node = agent("n1");
    const auto shell = client();
    const std::uint32_t job = submit(*shell);
    run_until([&] { return node->find(Body::kLaunch) != nullptr; });
    report_end(*node, node->find(Body::kLaunch)->launch().key(), 3);
    run_until([&] { return node->find(Body::kEndKnown) != nullptr; });
    EXPECT_EQ(state_of(*shell, job), model::JobState::Failed);
}

TEST_F(ControllerFixture, AfterARestartTheQueueIsThereAndAWaitingJobStartsWithItsScript) {
    start();
    std::uint32_t job = 0;
    {
        const auto shell = client();
        job = submit(*shell);
    }
    controller_.reset();
    start();
    const auto shell = client();
    EXPECT_EQ(state_of(*shell, job), model::JobState::Pending);
    const auto node = agent("n1");
    run_until([&] { return node->find(Body::kLaunch) != nullptr; });
    EXPECT_EQ(node->find(Body::kLaunch)->launch().batch().script(), "#!/bin/sh\ntrue\n");
    EXPECT_GT(submit(*shell), job) << "no id is given twice";
}

TEST_F(ControllerFixture, ARepeatedSubmissionIsRecognisedByItsNonce) {
    start();
    const auto shell = client();
    wire::Request request = submission();
    request.mutable_submit()->set_nonce(77);
    const std::uint32_t job = submit(*shell, request);
    EXPECT_EQ(submit(*shell, request), job);
}

TEST_F(ControllerFixture, ManySubmissionsInFlightAreAllAnsweredInOneGo) {
    start();
    const auto shell = client();
    for (int i = 0; i < 500; ++i) shell->send(submission());
    run_until([&] { return shell->replies.size() == 500; });
    std::set<std::uint32_t> ids;
    for (const wire::Reply& reply : shell->replies) ids.insert(reply.submitted().job());
    EXPECT_EQ(ids.size(), 500u);
    EXPECT_FALSE(ids.contains(0));
}

TEST_F(ControllerFixture, AScriptThatIsTooLargeIsRefusedWithItsSize) {
    start();
    const auto shell = client();
    wire::Request request = submission();
    request.mutable_submit()->mutable_payload()->set_script(
        std::string(limits::kScriptBytesMax + 1, 'x'));
    EXPECT_THAT(call(*shell, request).failure().message(), HasSubstr("too large"));
}

TEST_F(ControllerFixture, AMailIsHandedToMailProgWithoutWaiting) {
    const std::string out = folder_ + "/sent";
    FILE* script = ::fopen((folder_ + "/mail").c_str(), "w");
    ::fprintf(script, "#!/bin/sh\necho \"$1|$2|$3\" > %s.new && mv %s.new %s\n", out.c_str(),
              out.c_str(), out.c_str());
    ::fclose(script);
    ::chmod((folder_ + "/mail").c_str(), 0755);
    Mailer mailer(loop_, log_);
    mailer.send(folder_ + "/mail", "example.org",
                {.mail = {.job = JobId{1},
                          .event = model::MailEvent::End,
                          .to = "alice",
                          .subject = "Slurm Job_id=1 Name=x Ended",
                          .environment = {}},
                 .uid = ::getuid(),
                 .gid = ::getgid()});
    run_until([&] { return std::filesystem::exists(out); });
    FILE* read = ::fopen(out.c_str(), "r");
    char line[200] = {};
    ASSERT_NE(::fgets(line, sizeof line, read), nullptr);
    ::fclose(read);
    EXPECT_STREQ(line, "-s|Slurm Job_id=1 Name=x Ended|alice@example.org\n");
}

TEST_F(ControllerFixture, ABadConfigurationChangesNothingAndIsReported) {
    start();
    FILE* file = ::fopen((folder_ + "/slurm.conf").c_str(), "w");
    ::fputs("NodeName=n1 CPUs=banana\n", file);
    ::fclose(file);
    const auto shell = client();
    wire::Request request;
    request.mutable_reconfigure();
    EXPECT_TRUE(call(*shell, request).has_failure());
    wire::Request nodes;
    nodes.mutable_nodes();
    EXPECT_EQ(call(*shell, nodes).nodes().nodes_size(), 2);
}

TEST_F(ControllerFixture, AgentsAreToldOfANewConfiguration) {
    start();
    FILE* conf = ::fopen((folder_ + "/slurm.conf").c_str(), "w");
    ::fputs(
        "ClusterName=test\nSlurmctldHost=localhost\nNodeName=n[1-2] CPUs=4 RealMemory=4000\n"
        "PartitionName=debug Nodes=ALL Default=YES\n",
        conf);
    ::fclose(conf);
    const auto node = agent("n1");
    const auto shell = client();
    wire::Request request;
    request.mutable_reconfigure();
    EXPECT_TRUE(call(*shell, request).has_done());
    run_until([&] { return node->find(Body::kReconfigure) != nullptr; });
}

TEST_F(ControllerFixture, ShutdownIsAnsweredAndEndsTheLoop) {
    start();
    const auto node = agent("n1");
    const auto shell = client();
    wire::Request request;
    request.mutable_shutdown();
    shell->send(request);
    loop_.run();  // Ends by itself.
    EXPECT_EQ(controller_->exit_code(), 0);
    run_until([&] { return shell->closed && node->closed; });
    ASSERT_FALSE(shell->replies.empty());
    EXPECT_TRUE(shell->replies.front().has_done());
    EXPECT_NE(node->find(Body::kShutdown), nullptr);
}

TEST_F(ControllerFixture, ASignalGoesToTheLoopAlthoughTheThreadsWereThereFirst) {
    start();
    bool stopped = false;
    const auto watch = loop_.on_signal(SIGTERM, [&] {
        stopped = true;
        controller_->stop();
    });
    for (int i = 0; i < 20; ++i) ::kill(::getpid(), SIGTERM);
    loop_.run();
    EXPECT_TRUE(stopped);
}

TEST_F(ControllerFixture, AFullDiskIsWaitedOutAndNothingIsPromisedMeanwhile) {
    start(config(), {.store = {.pages_max = 60}});
    const auto shell = client();
    wire::Request request = submission();
    request.mutable_submit()->mutable_payload()->add_environment(std::string(20'000, 'x'));
    for (int i = 0; i < 200; ++i) shell->send(request);
    run_until([&] { return controller_->store_is_full(); });
    const auto acknowledged = [&] {
        return std::ranges::count_if(shell->replies, &wire::Reply::has_submitted);
    };
    const auto told = acknowledged();
    EXPECT_LT(told, 200);
    // Nothing new is taken in; what is there is told.
    const auto other = client();
    EXPECT_THAT(call(*other, submission()).failure().message(), HasSubstr("disk is full"));
    // Those that were in memory already have been told so too, and are not shown.
    run_until([&] { return shell->replies.size() == 200; });
    const wire::Reply shown = call(*other, jobs_query(false));
    EXPECT_EQ(shown.jobs().jobs_size(), acknowledged());
    wire::Request ping;
    ping.mutable_ping();
    EXPECT_TRUE(call(*other, ping).has_ping());
    EXPECT_EQ(acknowledged(), told);
    // It can be stopped, and what was told is true.
    loop_.post([&] { controller_->stop(); });
    loop_.run();
    controller_.reset();
    start();
    const auto next = client();
    for (const wire::Reply& reply : shell->replies) {
        if (reply.has_submitted()) state_of(*next, reply.submitted().job());
    }
}

TEST_F(ControllerFixture, ASecondControllerOnTheSameStateIsRefused) {
    start();
    auto second = start_controller(loop_, log_, config(), {});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::Busy);
}

// Goal: durable before acknowledged. Method: a child plays controller and command and tells us
// every id it was answered; it goes without a word after 200 of them, or is killed somewhere on the
// way.
class KillTest : public ControllerFixture {
  protected:
    void act(int to, std::size_t limit) {
        start();
        const auto shell = client();
        std::size_t sent = 0, seen = 0;
        for (; sent < 50; ++sent) shell->send(submission());
        run_until([&] {
            for (; !shell->replies.empty(); ++seen) {
                const std::uint32_t job = shell->take().submitted().job();
                if (::write(to, &job, sizeof job) != sizeof job || seen + 1 == limit) ::_exit(0);
                shell->send(submission());
            }
            return false;
        });
        ::_exit(1);
    }
};

TEST_F(KillTest, WhatWasAcknowledgedIsInTheStoreAfterASuddenEnd) {
    std::set<std::uint32_t> acknowledged;
    for (const std::size_t limit : {200u, 1u, 3000u}) {
        int ends[2];
        ASSERT_EQ(::pipe(ends), 0);
        const pid_t child = ::fork();
        if (child == 0) act(ends[1], limit);
        ::close(ends[1]);
        std::uint32_t job = 0;
        std::size_t count = 0;
        while (::read(ends[0], &job, sizeof job) == sizeof job) {
            EXPECT_TRUE(acknowledged.insert(job).second) << job << " was given twice";
            if (limit == 3000 && ++count == 700) ::kill(child, SIGKILL);
        }
        ::close(ends[0]);
        int status = 0;
        ::waitpid(child, &status, 0);

        auto store = *store::open_sqlite(folder_ + "/state/switchyard.db");
        const auto loaded = store->load();
        ASSERT_TRUE(loaded);
        std::set<std::uint32_t> stored;
        ASSERT_TRUE(store->load_jobs(Instant{}, [&](const model::Job& one, const auto&) {
            stored.insert(one.id.value);
            EXPECT_TRUE(*store->payload(one.id)) << "job " << one.id.value << " has no script";
        }));
        for (const std::uint32_t id : acknowledged) EXPECT_TRUE(stored.contains(id)) << id;
        EXPECT_GT(loaded->next_job_id->value, *acknowledged.rbegin());
    }
    EXPECT_GE(acknowledged.size(), 901u);
}

}  // namespace
}  // namespace switchyard::controller
