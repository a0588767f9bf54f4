// steps_test.cpp: steps of srun: what their nodes are told, and what of it outlives the controller.
#include <algorithm>

#include "controller/turn/controller_fixture.hpp"

namespace switchyard::controller {
namespace {

using Body = wire::ControllerToAgent::BodyCase;

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

TEST_F(ControllerFixture, AStepWithoutSrunIsQueuedAndLaunchedByAControllerThatWasRestarted) {
    start();
    std::uint32_t job = 0;
    const auto async = [&](const char* command) {
        wire::Request create;
        create.mutable_create_step()->set_job(job);
        create.mutable_create_step()->mutable_spec()->set_detached(true);
        create.mutable_create_step()->mutable_launch()->add_argv(command);
        return create;
    };
    wire::LaunchStep first;
    {
        const auto node = agent("n1");
        const auto shell = client();
        job = submit(*shell);
        run_until([&] { return node->find(Body::kLaunch) != nullptr; });
        node->orders.clear();
        EXPECT_TRUE(call(*shell, async("first")).has_step_made());
        const wire::Reply queued = call(*shell, async("second"));
        ASSERT_TRUE(queued.has_step_made()) << queued.failure().message();
        EXPECT_EQ(queued.step_made().step().key().step(), 1u);
        EXPECT_EQ(queued.step_made().step().started(), 0);
        run_until([&] { return node->find(Body::kLaunch) != nullptr; });
        first = node->find(Body::kLaunch)->launch();
        EXPECT_EQ(first.step().argv(0), "first");
    }
    controller_.reset();
    start();
    const auto node = agent("n1");
    // Nobody knows whether the first had begun; the node does.
    run_until([&] { return node->find(Body::kLaunch) != nullptr; });
    wire::AgentToController ended;
    *ended.mutable_step_ended()->mutable_key() = first.key();
    node->send(ended);
    const auto launched = [&](const char* command) {
        return std::ranges::any_of(node->orders, [&](const wire::ControllerToAgent& order) {
            return order.has_launch() && order.launch().has_step() &&
                   order.launch().step().argv(0) == command;
        });
    };
    run_until([&] { return launched("second"); });
    EXPECT_TRUE(launched("first"));
}

}  // namespace
}  // namespace switchyard::controller
