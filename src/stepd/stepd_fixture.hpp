// stepd_fixture.hpp: a real stepd for a test: a forked process that runs stepd_main on a socket
// pair, as an agent would have started it, in a private spool with real cgroups where the machine
// has them.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "os/containment.hpp"
#include "os/files.hpp"
#include "os/machine.hpp"
#include "os/spawn.hpp"
#include "stepd/launch.hpp"
#include "stepd/main.hpp"
#include "stepd/stepd.hpp"
#include "wire/codec.hpp"
#include "wire/greeting.hpp"
#include "wire/proto/node.pb.h"
#include "wire/proto/step_io.pb.h"

namespace switchyard::stepd {

// Patient: a machine that runs many tests at once is slow, and what never comes is told by the
// failure.
inline bool eventually(const std::function<bool()>& holds, Seconds limit = Seconds{60}) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (std::chrono::steady_clock::now() < end) {
        if (holds()) return true;
        ::usleep(1000);
    }
    return holds();
}

// Frames over a blocking socket, as a test wants them.
class Pipe {
  public:
    Pipe() = default;
    Pipe(io::Fd fd, const wire::Protocol& protocol)
        : fd_(std::move(fd)), says_(protocol.says), hears_(protocol.hears) {}

    template <class Message>
    void send(const Message& message) {
        const std::string body = message.SerializeAsString();
        const auto length = static_cast<std::uint32_t>(body.size());
        std::string frame(std::exchange(says_, {}));
        frame.append(reinterpret_cast<const char*>(&length), 4);
        frame += body;
        for (std::size_t at = 0; at < frame.size();) {
            const ssize_t sent =
                ::send(fd_.get(), frame.data() + at, frame.size() - at, MSG_NOSIGNAL);
            if (sent <= 0) return;
            at += static_cast<std::size_t>(sent);
        }
    }

    // The next message; none at the end of the stream or after half a minute.
    template <class Message>
    std::optional<Message> receive(int timeout_ms = 60000) {
        if (!hears_.empty()) {
            const std::string greeting = take(hears_.size(), timeout_ms);
            if (greeting.empty()) return std::nullopt;
            EXPECT_EQ(greeting, std::exchange(hears_, {}));
        }
        const auto head = take(4, timeout_ms);
        if (head.size() != 4) return std::nullopt;
        std::uint32_t length = 0;
        std::memcpy(&length, head.data(), 4);
        Message message;
        if (!message.ParseFromString(take(length, timeout_ms))) return std::nullopt;
        return message;
    }

    void close() { fd_.reset(); }
    int fd() const { return fd_.get(); }

  private:
    std::string take(std::size_t count, int timeout_ms) {
        std::string out;
        while (out.size() < count) {
            pollfd wait{fd_.get(), POLLIN, 0};
            if (::poll(&wait, 1, timeout_ms) <= 0) break;
            char piece[65536];
            const ssize_t got =
                ::read(fd_.get(), piece, std::min(sizeof piece, count - out.size()));
            if (got <= 0) break;
            out.append(piece, static_cast<std::size_t>(got));
        }
        return out;
    }

    io::Fd fd_;
    std::string_view says_, hears_;  // Until they were said and heard.
};

class StepdTest : public testing::Test {
  protected:
    StepdTest() {
        std::string name = "/tmp/sy-stepd-XXXXXX";
        dir = ::mkdtemp(name.data());
        ::chmod(dir.c_str(), 0755);
        spool = dir + "/spool";
        work = dir + "/work";
        (void)os::make_folders(spool, 0755);
        (void)os::make_folders(work, 0777);
        contain("autodetect");
        LaunchStepDefaults();
    }

    ~StepdTest() override {
        if (pid > 0) {
            ::kill(pid, SIGKILL);
            ::waitpid(pid, nullptr, 0);
        }
        const auto walls = os::make_containment(plan);
        for (const StepKey& key : walls->existing()) {
            eventually([&] {
                walls->kill_all(key);
                return walls->pids(key).empty() && bool(walls->remove(key));
            });
        }
        for (const auto& [controller, path] : plan.folders) {
            ::rmdir(path.c_str());
            ::rmdir(path.substr(0, path.rfind('/')).c_str());
        }
        (void)os::remove_tree(dir);
    }

    void contain(const std::string& kind) {
        plan = os::find_containment(kind, os::place_of("stepd-test", "n1", spool));
        wire::StepdSetup& setup = *order.mutable_setup();
        setup.Clear();
        setup.set_spool(spool);
        setup.set_containment(plan.kind);
        setup.set_place(plan.place);
        for (const auto& [controller, path] : plan.folders) {
            wire::KeyValue& entry = *setup.add_cgroups();
            entry.set_key(controller);
            entry.set_value(path);
        }
    }

    void LaunchStepDefaults() {
        model::JobSpec spec;
        spec.name = "job";
        spec.uid = ::getuid();
        spec.gid = ::getgid();
        spec.user = os::user_name(::getuid());
        spec.work_dir = work;
        spec.submit_host = "login";
        job.id = JobId{12};
        job.spec = std::make_shared<const model::JobSpec>(spec);
        job.partition = "debug";
        model::Running run;
        run.started = os::now();
        model::NodeGrant grant;
        grant.node = "n1";
        grant.cores = model::IndexSet::range(0, 0);
        grant.cpus = 1;
        grant.tasks = 1;
        run.allocation.nodes = {grant};
        job.phase = run;
        wire::LaunchStep& launch = *order.mutable_launch();
        wire::encode_key({job.id, job.attempt, kBatchStep}, launch.mutable_key());
        launch.set_node("n1");
        launch.set_cluster("test");
        launch.set_config_path(dir + "/slurm.conf");
        launch.set_uid(::getuid());
        launch.set_gid(::getgid());
        launch.set_user(spec.user);
        launch.set_kill_wait(1);
        launch.set_constrain_memory(true);
        model::StepNode node;
        node.grant = run.allocation.nodes[0];
        node.tasks = {0};
        wire::encode(model::StepLayout{{node}}, launch.mutable_layout());
        wire::encode(node.grant, launch.mutable_job_grant());
        launch.mutable_batch()->add_environment("PATH=/usr/local/bin:/usr/bin:/bin");
        launch.mutable_batch()->set_umask(022);
    }

    template <class Change>
    void change_spec(Change change) {
        model::JobSpec spec = *job.spec;
        change(spec);
        job.spec = std::make_shared<const model::JobSpec>(spec);
    }

    void start() {
        wire::encode(job, order.mutable_launch()->mutable_job());
        spawn();
        agent.send(order);
    }

    // A stepd that was not told yet what it is for.
    void spawn() {
        const StepKey key = wire::decode(order.launch().key());
        socket_path = spool + "/" + socket_name({key, ::getuid()});
        int pair[2];
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        io::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, socket_path.c_str(), sizeof address.sun_path - 1);
        ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        ASSERT_EQ(::listen(listener.get(), 8), 0);
        pid = ::fork();
        if (pid == 0) {
            ::setsid();
            const int first = ::fcntl(pair[1], F_DUPFD, 10);
            const int second = ::fcntl(listener.get(), F_DUPFD, 10);
            ::dup2(first, 3);
            ::dup2(second, 4);
            ::close_range(5, ~0u, 0);
            ::_exit(stepd_main(0, nullptr));
        }
        ::close(pair[1]);
        agent = Pipe(io::Fd(pair[0]), wire::kAgentToStepd);
    }

    void cancel() {
        wire::AgentToStepd message;
        message.mutable_end()->set_cause(static_cast<std::uint32_t>(model::EndCause::Cancelled));
        message.mutable_end()->set_grace(30);
        agent.send(message);
    }

    void start_batch(const std::string& script) {
        order.mutable_launch()->mutable_batch()->set_script("#!/bin/bash\n" + script);
        start();
    }

    std::optional<wire::StepReport> report() {
        while (const auto message = agent.receive<wire::StepdToAgent>()) {
            if (message->has_status() && message->status().has_report())
                return message->status().report();
        }
        return std::nullopt;
    }

    // Tells the stepd that its end is known, and waits for it to go.
    void let_go() {
        wire::AgentToStepd message;
        wire::encode_key(wire::decode(order.launch().key()),
                         message.mutable_end_known()->mutable_key());
        agent.send(message);
        int status = -1;
        ASSERT_EQ(::waitpid(pid, &status, 0), pid);
        pid = 0;
        EXPECT_EQ(status, 0);
        EXPECT_FALSE(os::exists(socket_path));
        EXPECT_EQ(os::list_folder(spool)->size(), 0u) << "left in the spool";
        EXPECT_TRUE(os::make_containment(plan)->existing().empty());
    }

    Pipe reconnect() {
        io::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, socket_path.c_str(), sizeof address.sun_path - 1);
        EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address),
                  0);
        return Pipe(std::move(socket), wire::kAgentToStepd);
    }

    std::string read(const std::string& name) {
        const auto text = os::read_file(work + "/" + name);
        return text ? *text : "<" + text.error().message + ">";
    }
    // The shell makes a file before it writes the line into it.
    bool wait_for_file(const std::string& name) {
        return eventually([&] { return read(name).ends_with('\n'); });
    }

    std::string dir, spool, work, socket_path;
    os::ContainmentPlan plan;
    model::Job job;
    wire::AgentToStepd order;
    Pipe agent;
    pid_t pid = 0;
};

}  // namespace switchyard::stepd
