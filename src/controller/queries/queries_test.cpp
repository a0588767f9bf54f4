// queries_test.cpp: what is asked of the controller and changes nothing: lists, history, scripts,
// figures.
#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "controller/turn/controller_fixture.hpp"

namespace switchyard::controller {
namespace {

using Body = wire::ControllerToAgent::BodyCase;
using testing::HasSubstr;

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
    EXPECT_THAT(call(*shell, ping).ping().version(), HasSubstr("26.05"));
    wire::Request diag;
    diag.mutable_diag();
    EXPECT_GE(call(*shell, diag).diag().requests(), 5u);
}

}  // namespace
}  // namespace switchyard::controller
