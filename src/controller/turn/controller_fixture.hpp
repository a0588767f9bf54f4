// controller_fixture.hpp: a whole controller on a folder of its own, with commands and agents
// played by the test. Everything runs on one loop in one thread, but for the store.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/start/start.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::controller {

class ControllerFixture : public testing::Test {
  protected:
    ControllerFixture() {
        char name[] = "/tmp/sy-controller-XXXXXX";
        folder_ = ::mkdtemp(name);
    }
    ~ControllerFixture() override {
        controller_.reset();
        std::filesystem::remove_all(folder_);
    }

    // Two nodes of four cores, one partition, everything in the folder.
    config::Config config() const {
        config::Config config;
        config.path = folder_ + "/slurm.conf";
        config.cluster_name = "test";
        config.controller_port = 0;
        config.state_dir = folder_ + "/state";
        config.run_dir = folder_ + "/run";
        config.key_file = folder_ + "/state/cluster.key";
        config.mail_prog = folder_ + "/mail";
        for (const char* node : {"n1", "n2"}) {
            model::NodeConfig entry;
            entry.name = node;
            entry.cpus = 4;
            entry.sockets = 1;
            entry.cores_per_socket = 4;
            entry.threads_per_core = 1;
            entry.memory = model::MiB{4000};
            config.nodes.push_back(entry);
        }
        model::Partition partition;
        partition.name = "debug";
        partition.is_default = true;
        partition.nodes = {"n1", "n2"};
        config.partitions.push_back(partition);
        return config;
    }

    void start() { start(config()); }
    void start(config::Config config, const StartOptions& options = {}) {
        auto controller = start_controller(loop_, log_, std::move(config), options);
        ASSERT_TRUE(controller) << controller.error().message;
        controller_ = *std::move(controller);
    }

    // Until `done`; a test whose condition never holds fails instead of hanging.
    void run_until(const std::function<bool()>& done) {
        bool gave_up = false;
        const auto deadline = loop_.after(Millis{20'000}, [&] {
            gave_up = true;
            loop_.stop();
        });
        io::Loop::Timer poll;
        const std::function<void()> look = [&] {
            if (done()) return loop_.stop();
            poll = loop_.after(Millis{1}, look);
        };
        look();
        loop_.run();
        ASSERT_FALSE(gave_up) << "gave up waiting";
    }

    // A command: its connection and what it was answered.
    struct Client {
        std::unique_ptr<wire::Channel> channel;
        std::deque<wire::Reply> replies;
        bool closed = false;
        std::uint64_t last_id = 0;

        std::uint64_t send(wire::Request request, std::uint32_t protocol = wire::kProtocol) {
            request.set_id(++last_id);
            request.set_protocol(protocol);
            channel->send(request.SerializeAsString());
            return last_id;
        }
        wire::Reply take() {
            wire::Reply reply = std::move(replies.front());
            replies.pop_front();
            return reply;
        }
    };
    std::unique_ptr<Client> client() {
        auto out = std::make_unique<Client>();
        Client* raw = out.get();
        out->channel = wire::Channel::connect_unix(
            loop_, folder_ + "/run/controller.sock", wire::kClientToController,
            {.on_frame =
                 [raw](std::string_view frame) {
                     raw->replies.emplace_back();
                     raw->replies.back().ParseFromArray(frame.data(),
                                                        static_cast<int>(frame.size()));
                 },
             .on_close = [raw](const Error&) { raw->closed = true; },
             .on_ready = {}});
        return out;
    }
    // Asks one thing and waits for the (first) answer.
    wire::Reply call(Client& client, wire::Request request) {
        client.send(std::move(request));
        run_until([&] { return !client.replies.empty(); });
        return client.replies.empty() ? wire::Reply() : client.take();
    }

    // An agent: its connection and what it was told.
    struct Agent {
        std::unique_ptr<wire::Channel> channel;
        std::deque<wire::ControllerToAgent> orders;
        bool closed = false;

        void send(const wire::AgentToController& message) {
            channel->send(message.SerializeAsString());
        }
        const wire::ControllerToAgent* find(wire::ControllerToAgent::BodyCase body) const {
            for (const auto& order : orders) {
                if (order.body_case() == body) return &order;
            }
            return nullptr;
        }
    };
    std::unique_ptr<Agent> agent(const std::string& node,
                                 std::uint32_t protocol = wire::kProtocol) {
        auto out = std::make_unique<Agent>();
        out->channel =
            wire::Channel::connect_unix(loop_, folder_ + "/run/controller-agents.sock",
                                        wire::kAgentToController, handlers_of(out.get()));
        introduce(*out, node, protocol);
        return out;
    }
    std::unique_ptr<Agent> remote_agent(const std::string& node, std::uint16_t port,
                                        const wire::PresharedKey& key) {
        auto out = std::make_unique<Agent>();
        out->channel = wire::Channel::connect_tls(
            loop_, "127.0.0.1", port, wire::kAgentToController, key, handlers_of(out.get()));
        introduce(*out, node, wire::kProtocol);
        return out;
    }
    static wire::Channel::Handlers handlers_of(Agent* agent) {
        return {.on_frame =
                    [agent](std::string_view frame) {
                        agent->orders.emplace_back();
                        agent->orders.back().ParseFromArray(frame.data(),
                                                            static_cast<int>(frame.size()));
                    },
                .on_close = [agent](const Error&) { agent->closed = true; },
                .on_ready = {}};
    }
    void introduce(Agent& agent, const std::string& node, std::uint32_t protocol) {
        wire::AgentToController hello;
        wire::Register* message = hello.mutable_register_();
        message->set_protocol(protocol);
        message->set_node(node);
        wire::NodeFacts* facts = message->mutable_facts();
        facts->set_cpus(4);
        facts->set_sockets(1);
        facts->set_cores_per_socket(4);
        facts->set_threads_per_core(1);
        facts->set_memory(4000);
        agent.send(hello);
        run_until([&] { return !agent.orders.empty(); });
    }

    static wire::Request submission(const std::string& name = "hello") {
        wire::Request request;
        wire::SubmitRequest* submit = request.mutable_submit();
        submit->mutable_spec()->set_name(name);
        submit->mutable_spec()->set_work_dir("/tmp");
        submit->mutable_spec()->set_uid(4711);  // A lie; the connection says who asks.
        submit->mutable_payload()->set_script("#!/bin/sh\ntrue\n");
        submit->mutable_payload()->add_environment("COLOUR=green");
        return request;
    }
    std::uint32_t submit(Client& client, const wire::Request& request = submission()) {
        const wire::Reply reply = call(client, request);
        EXPECT_TRUE(reply.has_submitted()) << reply.failure().message();
        return reply.submitted().job();
    }
    static wire::Request jobs_query(bool all_states = true) {
        wire::Request request;
        request.mutable_jobs()->set_all_states(all_states);
        return request;
    }
    static wire::Request query_of(std::uint32_t job) {
        wire::Request request = jobs_query();
        request.mutable_jobs()->mutable_filter()->add_jobs()->set_job(job);
        request.mutable_jobs()->set_one_job(true);
        return request;
    }
    model::JobState state_of(Client& client, std::uint32_t job) {
        const wire::Reply reply = call(client, query_of(job));
        EXPECT_EQ(reply.jobs().jobs_size(), 1) << reply.failure().message();
        if (reply.jobs().jobs_size() != 1) return model::JobState::Pending;
        return model::state_of(*wire::decode(reply.jobs().jobs(0)));
    }
    // The agent says that the step it was told to launch has ended.
    static void report_end(Agent& agent, const wire::StepKey& key, int code = 0) {
        wire::AgentToController message;
        wire::StepReport* report = message.mutable_step_ended();
        *report->mutable_key() = key;
        report->mutable_exit()->set_code(code);
        report->set_job_clean(true);
        agent.send(message);
    }

    std::string folder_;
    io::Loop loop_;
    os::Log log_{os::Log::Level::Quiet};
    std::unique_ptr<Controller> controller_;
};

}  // namespace switchyard::controller
