// bounds_test.cpp: what a request or a registration may cost is bounded before it is decoded, and
// answers are cut by their bytes. Method: messages that no program of ours would send.
#include <gmock/gmock.h>

#include "base/limits.hpp"
#include "controller/turn/controller_fixture.hpp"

namespace switchyard::controller {
namespace {

using Body = wire::ControllerToAgent::BodyCase;
using testing::HasSubstr;

class BoundsTest : public ControllerFixture {
  protected:
    std::string refused(Client& client, const wire::Request& request) {
        const wire::Reply reply = call(client, request);
        EXPECT_TRUE(reply.has_failure());
        EXPECT_NE(reply.id(), 0u) << "the connection goes on";
        return reply.failure().message();
    }
};

TEST_F(BoundsTest, AJobOfHundredsOfThousandsOfComponentsIsNotDecoded) {
    start();
    const auto shell = client();
    wire::Request request = submission();
    for (int i = 0; i < 450'000; ++i) request.mutable_submit()->add_components();
    EXPECT_THAT(refused(*shell, request),
                HasSubstr("too many components of a heterogeneous job: 450000, at most 128"));
    submit(*shell);
}

TEST_F(BoundsTest, RequestsThatAreNoSubmissionsAreSmall) {
    start();
    const auto shell = client();
    wire::Request request;
    request.mutable_jobs()->mutable_filter()->add_names(std::string(limits::kRequestBytesMax, 'x'));
    EXPECT_THAT(refused(*shell, request), HasSubstr("the request is too large"));
    wire::Request parts;
    for (std::size_t i = 0; i <= limits::kRequestFieldsMax; ++i) parts.mutable_hold()->add_jobs();
    EXPECT_THAT(refused(*shell, parts), HasSubstr("too many parts: at most 200000"));
}

TEST_F(BoundsTest, SelectorsOfMillionsOfElementsAreRefused) {
    start();
    const auto shell = client();
    wire::Request request;
    for (int i = 0; i < 50; ++i) {
        wire::JobSelector* selector = request.mutable_hold()->add_jobs();
        selector->set_job(1);
        selector->set_elements("0-4000000:2");
    }
    EXPECT_THAT(refused(*shell, request), HasSubstr("Invalid index list: 0-4000000:2"));
    wire::Request sum;
    for (int i = 0; i < 3; ++i) {
        wire::JobSelector* selector = sum.mutable_signal()->mutable_filter()->add_jobs();
        selector->set_job(1);
        selector->set_elements("0-100000:2");
    }
    EXPECT_THAT(refused(*shell, sum), HasSubstr("too many elements of arrays"));
    // As intervals they cost nothing.
    wire::Request whole;
    whole.mutable_hold()->add_jobs()->set_job(7);
    whole.mutable_hold()->mutable_jobs(0)->set_elements("0-4000000");
    EXPECT_EQ(call(*shell, whole).done().problems_size(), 1);
}

TEST_F(BoundsTest, AFilterHasFewWords) {
    start();
    const auto shell = client();
    wire::Request request = jobs_query();
    for (int i = 0; i < 1001; ++i) request.mutable_jobs()->mutable_filter()->add_names("x");
    EXPECT_THAT(refused(*shell, request), HasSubstr("too many names: 1001, at most 1000"));
}

TEST_F(BoundsTest, ANodeWithFourBillionDevicesIsRefused) {
    start();
    auto liar = std::make_unique<Agent>();
    liar->channel = wire::Channel::connect_unix(loop_, folder_ + "/run/controller-agents.sock",
                                                wire::kAgentToController, handlers_of(liar.get()));
    wire::AgentToController hello;
    hello.mutable_register_()->set_protocol(wire::kProtocol);
    hello.mutable_register_()->set_node("n1");
    wire::GresInventory* gres = hello.mutable_register_()->mutable_facts()->add_gres();
    gres->set_name("gpu");
    gres->set_count(1);
    gres->set_devices("0-4294967295");
    liar->send(hello);
    run_until([&] { return liar->closed; });
    ASSERT_FALSE(liar->orders.empty());
    EXPECT_EQ(liar->orders.front().registered().error(),
              "an agent tells of 4294967296 devices, at most 4096 are possible");
}

TEST_F(BoundsTest, ARelayedUserHasTheNameThatTheNodeSays) {
    start();
    const auto node = agent("n1");
    wire::AgentToController open;
    open.mutable_relay_open()->set_session(5);
    open.mutable_relay_open()->set_uid(3'999'999);
    open.mutable_relay_open()->set_gid(3'999'999);
    open.mutable_relay_open()->set_user("carol");
    open.mutable_relay_open()->set_group("choir");
    node->send(open);
    wire::Request request = submission();
    request.set_id(1);
    request.set_protocol(wire::kProtocol);
    request.mutable_submit()->mutable_spec()->set_user("root");
    request.mutable_submit()->mutable_spec()->set_group("wheel");
    request.mutable_submit()->mutable_spec()->set_hold(true);
    wire::AgentToController data;
    data.mutable_relay_data()->set_session(5);
    data.mutable_relay_data()->set_frame(request.SerializeAsString());
    node->send(data);
    run_until([&] { return node->find(Body::kRelayData) != nullptr; });
    wire::Reply reply;
    ASSERT_TRUE(reply.ParseFromString(node->find(Body::kRelayData)->relay_data().frame()));
    ASSERT_TRUE(reply.has_submitted()) << reply.failure().message();
    const auto shell = client();
    const wire::Reply seen = call(*shell, query_of(reply.submitted().job()));
    EXPECT_EQ(seen.jobs().jobs(0).spec().user(), "carol");
    EXPECT_EQ(seen.jobs().jobs(0).spec().group(), "choir");
}

TEST_F(BoundsTest, ALongListIsCutByItsBytes) {
    start();
    const auto shell = client();
    constexpr std::size_t kCount = 60;
    wire::Request request = submission();
    request.mutable_submit()->mutable_spec()->set_comment(std::string(16'000, 'c'));
    request.mutable_submit()->mutable_spec()->set_submit_line(std::string(100'000, 's'));
    for (std::size_t i = 0; i < kCount; ++i) shell->send(request);
    run_until([&] { return shell->replies.size() == kCount; });
    ASSERT_TRUE(shell->replies.back().has_submitted()) << shell->replies.back().failure().message();
    for (const bool history : {false, true}) {
        SCOPED_TRACE(history ? "history" : "memory");
        shell->replies.clear();
        wire::Request query = jobs_query();
        query.mutable_jobs()->set_history(history);
        shell->send(query);
        run_until([&] { return !shell->replies.empty() && shell->replies.back().last(); });
        std::size_t jobs = 0;
        for (const wire::Reply& reply : shell->replies) {
            EXPECT_LT(reply.ByteSizeLong(), limits::kReplyBytesMax + limits::kSpecBytesMax);
            jobs += static_cast<std::size_t>(reply.jobs().jobs_size());
        }
        EXPECT_EQ(jobs, kCount);
        EXPECT_GE(shell->replies.size(), 6u);
    }
}

}  // namespace
}  // namespace switchyard::controller
