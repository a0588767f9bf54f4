// connections_test.cpp: who may connect: agents here and on other hosts, commands that an agent
// relays, and how many.
#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "controller/turn/controller_fixture.hpp"
#include "wire/cluster_key.hpp"

namespace switchyard::controller {
namespace {

using Body = wire::ControllerToAgent::BodyCase;
using testing::HasSubstr;

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
        wire::Channel::connect_tls(loop_, "127.0.0.1", port, wire::kAgentToController, wrong,
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
    open.mutable_relay_open()->set_user("remote");
    node->send(open);
    wire::Request request = submission();
    request.set_id(9);
    request.set_protocol(wire::kProtocol);
    request.mutable_submit()->mutable_spec()->set_user("root");
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
    for (std::uint64_t i = 0; i < limits::kConnectionsPerUserMax; ++i) open(i, 31337);
    open(limits::kConnectionsPerUserMax, 31338);
    EXPECT_EQ(node->find(Body::kRelayData), nullptr);
    open(limits::kConnectionsPerUserMax + 1, 31337);
    run_until([&] { return node->find(Body::kRelayData) != nullptr; });
    EXPECT_EQ(node->find(Body::kRelayData)->relay_data().session(),
              limits::kConnectionsPerUserMax + 1);
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

}  // namespace
}  // namespace switchyard::controller
