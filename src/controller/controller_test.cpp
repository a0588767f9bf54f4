// The controller end to end, with commands and agents played by the test.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <algorithm>

#include <algorithm>
#include <set>

#include "base/limits.hpp"
#include "controller/controller_fixture.hpp"
#include "store/store.hpp"
#include "wire/cluster_key.hpp"

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

TEST_F(ControllerFixture, RequestsOverTheLimitInFlightAreRefusedAsBusy) {
    start();
    const auto shell = client();
    const std::uint32_t job = submit(*shell);
    for (std::size_t i = 0; i <= limits::kRequestsInFlightPerConnectionMax; ++i) {
        wire::Request wait;
        wait.mutable_wait()->set_job(job);
        shell->send(wait);
    }
    run_until([&] { return !shell->replies.empty(); });
    EXPECT_EQ(shell->replies.front().failure().code(), static_cast<std::uint32_t>(Errc::Busy));
}

TEST_F(ControllerFixture, ALongListComesInChunksAndOneUsersJobsAlone) {
    start();
    const auto shell = client();
    const std::size_t count = 2 * limits::kJobsPerReplyChunk + 5;
    for (std::size_t i = 0; i < count; ++i) shell->send(submission());
    run_until([&] { return shell->replies.size() == count; });
    shell->replies.clear();

    shell->send(jobs_query());
    run_until([&] { return !shell->replies.empty() && shell->replies.back().last(); });
    EXPECT_EQ(shell->replies.size(), 3u);
    std::size_t seen = 0;
    for (const wire::Reply& reply : shell->replies)
        seen += static_cast<std::size_t>(reply.jobs().jobs_size());
    EXPECT_EQ(seen, count);
    shell->replies.clear();

    wire::Request others = jobs_query();
    others.mutable_jobs()->mutable_filter()->add_uids(::geteuid() + 1);
    EXPECT_EQ(call(*shell, others).jobs().jobs_size(), 0);
    wire::Request own = jobs_query();
    own.mutable_jobs()->mutable_filter()->add_uids(::geteuid());
    own.mutable_jobs()->mutable_filter()->add_names("nosuch");
    EXPECT_EQ(call(*shell, own).jobs().jobs_size(), 0);
}

// More jobs than stay open: most are told from the bytes they are kept in, before a restart and
// after it.
TEST_F(ControllerFixture, AJobIsFoundByAnyFilterHoweverItIsKept) {
    start();
    const std::size_t count = core::JobKeeping{}.open_max + 500;
    const auto first = client();
    for (std::size_t i = 1; i <= count; ++i) first->send(submission("name-" + std::to_string(i)));
    run_until([&] { return first->replies.size() == count; });
    for (const bool restarted : {false, true}) {
        SCOPED_TRACE(restarted ? "after a restart" : "before");
        if (restarted) {
            controller_.reset();
            start();
        }
        const auto shell = client();
        const auto found = [&](const std::function<void(wire::JobsQuery&)>& ask) {
            wire::Request request = jobs_query(false);
            ask(*request.mutable_jobs());
            shell->send(request);
            run_until([&] { return !shell->replies.empty() && shell->replies.back().last(); });
            std::vector<std::string> names;
            for (const wire::Reply& reply : shell->replies) {
                for (const wire::Job& job : reply.jobs().jobs()) names.push_back(job.spec().name());
            }
            shell->replies.clear();
            return names;
        };
        using Query = wire::JobsQuery;
        EXPECT_EQ(found([](Query&) {}).size(), count);
        for (const std::size_t i : {std::size_t{1}, count / 2, count}) {
            const std::string name = "name-" + std::to_string(i);
            const auto by_name = [&](Query& query) { query.mutable_filter()->add_names(name); };
            EXPECT_EQ(found(by_name), std::vector{name});
            const auto by_id = [&](Query& query) {
                query.mutable_filter()->add_jobs()->set_job(static_cast<std::uint32_t>(i));
            };
            EXPECT_EQ(found(by_id), std::vector{name});
        }
        const auto running = [](Query& query) {
            query.mutable_filter()->add_states(
                static_cast<std::uint32_t>(model::JobState::Running));
        };
        EXPECT_TRUE(found(running).empty());
        const auto elsewhere = [](Query& query) {
            query.mutable_filter()->add_partitions("nosuch");
        };
        EXPECT_TRUE(found(elsewhere).empty());
    }
}

TEST_F(ControllerFixture, AnUnknownJobIsAnErrorOnlyWhenItAloneWasAskedFor) {
    start();
    const auto shell = client();
    const wire::Reply reply = call(*shell, query_of(99));
    EXPECT_EQ(reply.failure().code(), static_cast<std::uint32_t>(Errc::InvalidJobId));
    wire::Request several = query_of(99);
    several.mutable_jobs()->set_one_job(false);
    EXPECT_TRUE(call(*shell, several).has_jobs());
}

TEST_F(ControllerFixture, HistoryComesFromTheStore) {
    start();
    const auto node = agent("n1");
    const auto shell = client();
    const std::uint32_t job = submit(*shell);
    run_until([&] { return node->find(Body::kLaunch) != nullptr; });
    report_end(*node, node->find(Body::kLaunch)->launch().key());
    run_until([&] { return node->find(Body::kEndKnown) != nullptr; });

    wire::Request request = jobs_query();
    request.mutable_jobs()->set_history(true);
    request.mutable_jobs()->set_with_steps(true);
    const wire::Reply reply = call(*shell, request);
    ASSERT_EQ(reply.jobs().jobs_size(), 1) << reply.failure().message();
    EXPECT_TRUE(reply.last());
    EXPECT_EQ(reply.jobs().jobs(0).id(), job);
    EXPECT_TRUE(reply.jobs().jobs(0).has_ended());
    request.mutable_jobs()->mutable_filter()->add_jobs()->set_job(job + 1);
    request.mutable_jobs()->set_one_job(true);
    EXPECT_EQ(call(*shell, request).failure().code(),
              static_cast<std::uint32_t>(Errc::InvalidJobId));
}

TEST_F(ControllerFixture, TheScriptIsShownToItsOwner) {
    start();
    const auto shell = client();
    const std::uint32_t job = submit(*shell);
    wire::Request request;
    request.mutable_script()->set_job(job);
    EXPECT_EQ(call(*shell, request).script().script(), "#!/bin/sh\ntrue\n");
    request.mutable_script()->set_job(job + 1);
    EXPECT_EQ(call(*shell, request).failure().code(),
              static_cast<std::uint32_t>(Errc::InvalidJobId));
}

TEST_F(ControllerFixture, AScriptThatIsTooLargeIsRefusedWithItsSize) {
    start();
    const auto shell = client();
    wire::Request request = submission();
    request.mutable_submit()->mutable_payload()->set_script(
        std::string(limits::kScriptBytesMax + 1, 'x'));
    EXPECT_THAT(call(*shell, request).failure().message(), HasSubstr("too large"));
}

TEST_F(ControllerFixture, AnotherProtocolIsRefusedClearly) {
    start();
    const auto shell = client();
    shell->send(submission(), wire::kProtocol + 1);
    run_until([&] { return shell->closed; });
    ASSERT_FALSE(shell->replies.empty());
    EXPECT_EQ(shell->replies.front().failure().code(),
              static_cast<std::uint32_t>(Errc::ProtocolVersion));

    const auto node = agent("n1", wire::kProtocol + 1);
    EXPECT_FALSE(node->orders.front().registered().accepted());
    EXPECT_THAT(node->orders.front().registered().error(), HasSubstr("protocol"));
}

TEST_F(ControllerFixture, AnAgentOfAnUnknownNodeIsRefused) {
    start();
    const auto node = agent("nosuch");
    EXPECT_FALSE(node->orders.front().registered().accepted());
    EXPECT_THAT(node->orders.front().registered().error(), HasSubstr("nosuch"));
}

TEST_F(ControllerFixture, AnAgentOnAnotherHostProvesItselfByTheClusterKey) {
    // A port that was free a moment ago.
    const std::uint16_t port =
        (*wire::Listener::on_tcp(loop_, "127.0.0.1", 0, [](io::Fd) {}))->port();
    config::Config remote = config();
    remote.controller_port = port;
    start(remote);
    const auto key = wire::load_cluster_key(remote.key_file, "test");
    ASSERT_TRUE(key) << key.error().message;

    wire::PresharedKey wrong = *key;
    wrong.key[0] = static_cast<char>(wrong.key[0] ^ 1);
    bool refused = false, opened = false;
    const auto stranger =
        wire::Channel::connect_tls(loop_, "127.0.0.1", port, wrong,
                                   {.on_frame = {},
                                    .on_close = [&](const Error&) { refused = true; },
                                    .on_ready = [&] { opened = true; }});
    run_until([&] { return refused; });
    EXPECT_FALSE(opened);

    const auto node = remote_agent("n1", port, *key);
    EXPECT_TRUE(node->orders.front().registered().accepted());
    const auto local = agent("n2");
    const auto shell = client();
    wire::Request request = submission();
    request.mutable_submit()->mutable_spec()->set_nodes_min(2);
    submit(*shell, request);
    run_until([&] { return node->find(Body::kLaunch) != nullptr; });
    const wire::LaunchStep& launch = node->find(Body::kLaunch)->launch();
    ASSERT_EQ(launch.hosts_size(), 2);
    EXPECT_EQ(launch.hosts(0).name(), "n1");
    EXPECT_EQ(launch.hosts(0).address(), "127.0.0.1");
}

TEST_F(ControllerFixture, ACommandRelayedByAnAgentIsTheUserThatTheAgentNames) {
    start();
    const auto node = agent("n1");
    wire::AgentToController open;
    open.mutable_relay_open()->set_session(5);
    open.mutable_relay_open()->set_uid(31337);
    open.mutable_relay_open()->set_gid(31338);
    node->send(open);
    wire::Request request = submission();
    request.set_id(9);
    request.set_protocol(wire::kProtocol);
    request.mutable_submit()->mutable_spec()->set_user("remote");
    wire::AgentToController data;
    data.mutable_relay_data()->set_session(5);
    data.mutable_relay_data()->set_frame(request.SerializeAsString());
    node->send(data);
    run_until([&] { return node->find(Body::kRelayData) != nullptr; });
    const wire::RelayData& answer = node->find(Body::kRelayData)->relay_data();
    EXPECT_EQ(answer.session(), 5u);
    wire::Reply reply;
    ASSERT_TRUE(reply.ParseFromString(answer.frame()));
    EXPECT_EQ(reply.id(), 9u);
    const auto shell = client();
    const wire::Reply shown = call(*shell, query_of(reply.submitted().job()));
    ASSERT_EQ(shown.jobs().jobs_size(), 1);
    EXPECT_EQ(shown.jobs().jobs(0).spec().uid(), 31337u);
    EXPECT_EQ(shown.jobs().jobs(0).spec().gid(), 31338u);
    EXPECT_EQ(shown.jobs().jobs(0).spec().user(), "remote");

    // Neither its script nor its life is another relayed user's business.
    open.mutable_relay_open()->set_session(6);
    open.mutable_relay_open()->set_uid(31339);
    node->send(open);
    wire::Request script;
    script.set_id(1);
    script.set_protocol(wire::kProtocol);
    script.mutable_script()->set_job(reply.submitted().job());
    data.mutable_relay_data()->set_session(6);
    data.mutable_relay_data()->set_frame(script.SerializeAsString());
    node->orders.clear();
    node->send(data);
    run_until([&] { return node->find(Body::kRelayData) != nullptr; });
    ASSERT_TRUE(reply.ParseFromString(node->find(Body::kRelayData)->relay_data().frame()));
    EXPECT_EQ(reply.failure().code(), static_cast<std::uint32_t>(Errc::AccessDenied));
}

TEST_F(ControllerFixture, ARestartedAgentTakesThePlaceOfItsOldConnection) {
    start();
    const auto old = agent("n1");
    const auto fresh = agent("n1");
    run_until([&] { return old->closed; });
    const auto shell = client();
    submit(*shell);
    run_until([&] { return fresh->find(Body::kLaunch) != nullptr; });
    wire::Request nodes;
    nodes.mutable_nodes()->add_names("n1");
    EXPECT_TRUE(call(*shell, nodes).nodes().nodes(0).responding());
}

TEST_F(ControllerFixture, AUserCannotTakeAllConnections) {
    start();
    const auto node = agent("n1");
    const auto open = [&](std::uint64_t session, std::uint32_t uid) {
        wire::AgentToController message;
        message.mutable_relay_open()->set_session(session);
        message.mutable_relay_open()->set_uid(uid);
        node->send(message);
    };
    for (std::uint64_t i = 0; i < kConnectionsPerUserMax; ++i) open(i, 31337);
    open(kConnectionsPerUserMax, 31338);
    EXPECT_EQ(node->find(Body::kRelayData), nullptr);
    open(kConnectionsPerUserMax + 1, 31337);
    run_until([&] { return node->find(Body::kRelayData) != nullptr; });
    EXPECT_EQ(node->find(Body::kRelayData)->relay_data().session(), kConnectionsPerUserMax + 1);
}

TEST_F(ControllerFixture, AStepIsLaunchedWithTheCommandLineOfItsSrun) {
    start();
    const auto node = agent("n1");
    const auto srun = client();
    wire::Request allocate = submission();
    allocate.mutable_submit()->clear_payload();
    allocate.mutable_submit()->mutable_spec()->set_kind(
        static_cast<std::uint32_t>(model::JobKind::Allocation));
    srun->send(allocate);
    run_until([&] { return srun->replies.size() >= 2; });
    const std::uint32_t job = srun->take().submitted().job();
    const wire::Reply granted = srun->take();
    ASSERT_TRUE(granted.has_granted());
    EXPECT_EQ(granted.granted().job().id(), job);
    EXPECT_FALSE(granted.last());

    wire::Request create;
    create.mutable_create_step()->set_job(job);
    create.mutable_create_step()->mutable_spec()->set_name("hostname");
    create.mutable_create_step()->mutable_launch()->add_argv("hostname");
    const wire::Reply made = call(*srun, create);
    ASSERT_TRUE(made.has_step_made()) << made.failure().message();
    run_until([&] { return node->find(Body::kLaunch) != nullptr; });
    const wire::LaunchStep& launch = node->find(Body::kLaunch)->launch();
    EXPECT_EQ(launch.key().job(), job);
    EXPECT_EQ(launch.step().argv(0), "hostname");
    EXPECT_EQ(launch.step_spec().name(), "hostname");
    EXPECT_FALSE(launch.has_batch());

    // Its owner goes: the allocation ends.
    srun->channel.reset();
    run_until([&] { return node->find(Body::kEndJob) != nullptr; });
    EXPECT_EQ(node->find(Body::kEndJob)->end_job().job(), job);
}

TEST_F(ControllerFixture, PidsAreGatheredFromTheNodes) {
    start();
    const auto node = agent("n1");
    const auto shell = client();
    const std::uint32_t job = submit(*shell);
    run_until([&] { return node->find(Body::kLaunch) != nullptr; });
    wire::Request request;
    request.mutable_pids()->set_job(job);
    shell->send(request);
    run_until([&] { return node->find(Body::kPids) != nullptr; });
    wire::AgentToController answer;
    answer.mutable_pids()->set_id(node->find(Body::kPids)->pids().id());
    answer.mutable_pids()->add_pids()->set_pid(1234);
    node->send(answer);
    run_until([&] { return !shell->replies.empty(); });
    ASSERT_EQ(shell->replies.front().pids().pids_size(), 1);
    EXPECT_EQ(shell->replies.front().pids().pids(0).pid(), 1234u);
}

TEST_F(ControllerFixture, NodesPartitionsConfigurationAndFiguresAreShown) {
    start();
    const auto node = agent("n1");
    const auto shell = client();
    wire::Request nodes;
    nodes.mutable_nodes();
    EXPECT_EQ(call(*shell, nodes).nodes().nodes_size(), 2);
    nodes.mutable_nodes()->add_names("n1");
    const wire::Reply one = call(*shell, nodes);
    ASSERT_EQ(one.nodes().nodes_size(), 1);
    EXPECT_TRUE(one.nodes().nodes(0).responding());
    wire::Request partitions;
    partitions.mutable_partitions();
    EXPECT_EQ(call(*shell, partitions).partitions().partitions(0).name(), "debug");
    wire::Request config;
    config.mutable_config();
    bool found = false;
    const wire::Reply values = call(*shell, config);
    for (const auto& entry : values.config().values()) {
        found |= entry.key() == "ClusterName" && entry.value() == "test";
    }
    EXPECT_TRUE(found);
    wire::Request ping;
    ping.mutable_ping();
    EXPECT_THAT(call(*shell, ping).ping().version(), HasSubstr("25.11"));
    wire::Request diag;
    diag.mutable_diag();
    EXPECT_GE(call(*shell, diag).diag().requests(), 5u);
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
                {.job = JobId{1},
                 .event = model::MailEvent::End,
                 .to = "alice",
                 .subject = "Slurm Job_id=1 Name=x Ended",
                 .environment = {}});
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
    EXPECT_EQ(call(*other, submission()).failure().code(), static_cast<std::uint32_t>(Errc::Busy));
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
    auto second = Controller::create(loop_, log_, config(), {});
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
