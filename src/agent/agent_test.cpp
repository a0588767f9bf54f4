// agent_test.cpp: a real agent process with real stepds, and a controller of the test's own on the
// other end.
//
// This program is its own slurmstepd: the agent starts its stepds from /proc/self/exe.
#include <gmock/gmock.h>

#include "agent/main.hpp"
#include "os/processes.hpp"
#include "stepd/stepd_fixture.hpp"

namespace switchyard::agent {
namespace {

using stepd::eventually;
using stepd::Pipe;
using testing::HasSubstr;

io::Fd listen_on(const std::string& path) {
    io::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket.get(), 8), 0);
    return socket;
}

Pipe connect_to(const std::string& path) {
    io::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return Pipe(std::move(socket), wire::kClientToController);
}

class AgentTest : public testing::Test {
  protected:
    AgentTest() {
        std::string name = "/tmp/sy-agent-XXXXXX";
        dir = ::mkdtemp(name.data());
        ::chmod(dir.c_str(), 0755);
        for (const char* folder : {"/run", "/spool", "/state", "/desk"})
            (void)os::make_folders(dir + folder, 0755);
        configure("");
        listener = listen_on(dir + "/run/controller-agents.sock");
    }

    void configure(const std::string& extra) const {
        const std::string text =
            "ClusterName=agenttest\nSlurmctldHost=" + os::host_name() +
            "\nStateSaveLocation=" + dir + "/state\nSlurmdSpoolDir=" + dir +
            "/spool\nSwitchyardRunDir=" + dir +
            "/run\nNodeName=n[1-2] NodeHostname=" + os::host_name() +
            " CPUs=64 RealMemory=1000\nPartitionName=debug Nodes=ALL Default=YES\n" + extra;
        (void)os::write_new_file(dir + "/slurm.conf", text, 0644);
    }

    ~AgentTest() override {
        kill_agent();
        // Stepds that outlived it: their sockets say which.
        for (const os::Process& process : os::list_processes()) {
            const auto line = os::read_file("/proc/" + std::to_string(process.pid) + "/cmdline");
            if (line && line->starts_with("slurmstepd") && stepd_pids.contains(process.pid))
                ::kill(process.pid, SIGKILL);
        }
        const auto plan =
            os::find_containment("autodetect", os::place_of("agenttest", "n1", dir + "/spool"));
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

    void start_agent() {
        agent = ::fork();
        if (agent == 0) {
            std::string conf = dir + "/slurm.conf";
            const std::string log = dir + "/agent.log";
            ::dup2(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644), 2);
            ::close_range(3, ~0u, 0);
            const char* argv[] = {"slurmd", "-D", "-N", "n1", "-f", conf.c_str(), nullptr};
            ::_exit(agent_main(6, const_cast<char**>(argv)));
        }
    }
    void kill_agent() {
        if (agent <= 0) return;
        ::kill(agent, SIGKILL);
        ::waitpid(agent, nullptr, 0);
        agent = 0;
    }

    // Takes the agent's next connection and lets it register.
    wire::Register accept_agent(bool ask_begun = false) {
        pollfd wait{listener.get(), POLLIN, 0};
        EXPECT_EQ(::poll(&wait, 1, 10000), 1);
        link = Pipe(io::Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)),
                    wire::kControllerToAgent);
        const auto message = link.receive<wire::AgentToController>();
        EXPECT_TRUE(message && message->has_register_());
        wire::ControllerToAgent answer;
        answer.mutable_registered()->set_accepted(true);
        answer.mutable_registered()->set_ask_begun(ask_begun);
        link.send(answer);
        return message ? message->register_() : wire::Register();
    }

    void launch(const std::string& script, std::uint32_t job = 12, std::int64_t submitted = 0) {
        model::JobSpec spec;
        spec.name = "job";
        spec.uid = ::getuid();
        spec.gid = ::getgid();
        spec.user = os::user_name(::getuid());
        spec.work_dir = dir + "/desk";
        model::Job record;
        record.id = JobId{job};
        record.submitted = Instant{Millis{submitted}};
        record.spec = std::make_shared<const model::JobSpec>(spec);
        model::NodeGrant grant;
        grant.node = "n1";
        grant.cores = model::IndexSet::range(0, 0);
        grant.cpus = grant.tasks = 1;
        model::Running run;
        run.started = os::now();
        run.allocation.nodes = {grant};
        record.phase = run;
        wire::ControllerToAgent message;
        wire::LaunchStep& out = *message.mutable_launch();
        wire::encode_key(key(job), out.mutable_key());
        out.set_node("n1");
        wire::encode(record, out.mutable_job());
        wire::encode(model::StepLayout{{{grant, {0}}}}, out.mutable_layout());
        wire::encode(grant, out.mutable_job_grant());
        out.set_uid(::getuid());
        out.set_gid(::getgid());
        out.set_user("mallory");  // Whose name it is, the node knows better.
        out.set_kill_wait(1);
        wire::HostAddress& host = *out.add_hosts();
        host.set_name("n1");
        host.set_address("127.0.0.1");
        out.mutable_batch()->set_script("#!/bin/bash\n" + script);
        out.mutable_batch()->add_environment("PATH=/usr/bin:/bin");
        out.mutable_batch()->set_umask(022);
        link.send(message);
    }

    static StepKey key(std::uint32_t job = 12) { return {JobId{job}, Attempt{0}, kBatchStep}; }

    // The next message that is of this kind; others (loads) are passed over.
    template <class Wanted>
    std::optional<wire::AgentToController> next(Wanted wanted) {
        while (auto message = link.receive<wire::AgentToController>()) {
            if (wanted(*message)) return message;
        }
        return std::nullopt;
    }
    std::optional<wire::StepReport> report() {
        const auto message = next([](const auto& m) { return m.has_step_ended(); });
        return message ? std::optional(message->step_ended()) : std::nullopt;
    }
    bool started() {
        return next([](const auto& m) { return m.has_step_started(); }).has_value();
    }

    void end_known(std::uint32_t job = 12) {
        wire::ControllerToAgent message;
        wire::encode_key(key(job), message.mutable_end_known()->mutable_key());
        link.send(message);
    }
    void end_job(std::uint32_t job, std::int64_t grace) {
        wire::ControllerToAgent message;
        message.mutable_end_job()->set_job(job);
        message.mutable_end_job()->set_cause(1);
        message.mutable_end_job()->set_grace(grace);
        link.send(message);
    }

    // The shell makes a file before it writes the line into it.
    bool wait_for_file(const std::string& name) {
        return eventually([&] { return read(name).ends_with('\n'); });
    }
    std::string read(const std::string& name) {
        const auto text = os::read_file(dir + "/desk/" + name);
        return text ? *text : "<" + text.error().message + ">";
    }
    // The stepd of the batch step: the parent of its script.
    pid_t stepd_of(const std::string& pid_file) {
        const auto script = os::read_process(std::atoi(read(pid_file).c_str()));
        if (!script) return 0;
        stepd_pids.insert(script->parent);
        return script->parent;
    }
    std::string log() const {
        const auto text = os::read_file(dir + "/agent.log");
        return text ? *text : "";
    }
    bool spool_has_socket() {
        return os::exists(dir + "/spool/" + stepd::socket_name({key(), ::getuid()}));
    }

    std::string dir;
    io::Fd listener;
    Pipe link;
    pid_t agent = 0;
    std::set<pid_t> stepd_pids;
};

TEST_F(AgentTest, RegistersThePretendNodeWithWhatIsConfigured) {
    start_agent();
    const wire::Register found = accept_agent();
    EXPECT_EQ(found.node(), "n1");
    EXPECT_EQ(found.facts().cpus(), 64u);
    EXPECT_EQ(found.facts().memory(), 1000u);
    EXPECT_EQ(found.steps_size(), 0);
    EXPECT_NE(found.facts().containment(), "");
}

TEST_F(AgentTest, ABatchJobRunsIsReportedAndForgottenWhenItsEndIsKnown) {
    start_agent();
    accept_agent();
    launch("echo hello; getent hosts n2; exit 3");
    EXPECT_TRUE(started());
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().code(), 3);
    EXPECT_TRUE(end->job_clean());
    EXPECT_THAT(read("slurm-12.out"), HasSubstr("hello\n"));
    EXPECT_TRUE(spool_has_socket());
    end_known();
    EXPECT_TRUE(eventually([&] { return !spool_has_socket(); }));
}

TEST_F(AgentTest, ALaunchToldTwiceIsDoneOnceAndItsReportRepeated) {
    start_agent();
    accept_agent();
    launch("echo x >> count");
    ASSERT_TRUE(report());
    launch("echo x >> count");
    ASSERT_TRUE(report());
    EXPECT_EQ(read("count"), "x\n");
    end_known();
}

TEST_F(AgentTest, AnUnknownJobIsCleanAtOnce) {
    start_agent();
    accept_agent();
    end_job(99, 0);
    const auto clean = next([](const auto& m) { return m.has_job_clean(); });
    ASSERT_TRUE(clean);
    EXPECT_EQ(clean->job_clean().job(), 99u);
}

TEST_F(AgentTest, AnEndedJobIsReportedThenClean) {
    start_agent();
    accept_agent();
    launch("echo > ready; sleep 600");
    ASSERT_TRUE(wait_for_file("ready"));
    end_job(12, 10);
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().signal(), SIGTERM);
    EXPECT_TRUE(next([](const auto& m) { return m.has_job_clean(); }));
    end_known();
}

TEST_F(AgentTest, ARestartedAgentFindsItsStepsAgain) {
    start_agent();
    accept_agent();
    launch("echo $$ > pid; while [ ! -e go ]; do sleep 0.01; done; echo done");
    ASSERT_TRUE(wait_for_file("pid"));
    kill_agent();
    start_agent();
    const wire::Register found = accept_agent();
    ASSERT_EQ(found.steps_size(), 1);
    EXPECT_EQ(wire::decode(found.steps(0)), key());
    ASSERT_TRUE(os::write_new_file(dir + "/desk/go", "", 0644));
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().code(), 0);
    EXPECT_FALSE(end->lost());
    EXPECT_EQ(read("slurm-12.out"), "done\n");
    end_known();
    EXPECT_TRUE(eventually([&] { return !spool_has_socket(); }));
}

TEST_F(AgentTest, AnEndThatCameWhileTheControllerWasAwayIsReportedWhenItIsBack) {
    start_agent();
    accept_agent();
    launch("while [ ! -e go ]; do sleep 0.01; done; exit 5");
    ASSERT_TRUE(started());
    link.close();
    ASSERT_TRUE(os::write_new_file(dir + "/desk/go", "", 0644));
    const wire::Register found = accept_agent();
    EXPECT_EQ(found.steps_size(), 1);
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_EQ(end->exit().code(), 5);
    // Not yet known: a second return hears it again.
    link.close();
    accept_agent();
    ASSERT_TRUE(report());
    end_known();
}

TEST_F(AgentTest, WhatAKilledStepdLeavesIsEndedAndReportedAsLost) {
    start_agent();
    accept_agent();
    launch("(setsid sleep 600 & echo $! > child); echo $$ > pid; sleep 600");
    ASSERT_TRUE(wait_for_file("pid"));
    ASSERT_TRUE(eventually([&] { return stepd_of("pid") > 1; }));
    const pid_t script = std::atoi(read("pid").c_str());
    ::kill(stepd_of("pid"), SIGKILL);
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->lost());
    EXPECT_TRUE(end->job_clean());
    EXPECT_FALSE(os::read_process(script) && os::read_process(script)->state != 'Z');
    end_known();
    EXPECT_TRUE(eventually([&] { return !spool_has_socket(); }));
    EXPECT_TRUE(eventually([&] { return os::list_folder(dir + "/spool")->size() == 2; }))
        << "only journal and pid file stay";
}

TEST_F(AgentTest, StepdAndAgentBothKilledIsALostStepForTheNextAgent) {
    start_agent();
    accept_agent();
    launch("echo $$ > pid; sleep 600");
    ASSERT_TRUE(wait_for_file("pid"));
    ASSERT_TRUE(eventually([&] { return stepd_of("pid") > 1; }));
    const pid_t stepd = stepd_of("pid");
    kill_agent();
    ::kill(stepd, SIGKILL);
    start_agent();
    EXPECT_EQ(accept_agent().steps_size(), 1);
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->lost());
    end_known();
}

TEST_F(AgentTest, AScriptThatBeganIsNotBegunAgainAndItsEndIsToldInstead) {
    start_agent();
    accept_agent();
    launch("echo x >> count; exit 3");
    ASSERT_TRUE(report());
    end_known();
    ASSERT_TRUE(eventually([&] { return !spool_has_socket(); }));
    // As a controller would whose records are a restored backup.
    launch("echo x >> count; exit 3");
    const auto again = report();
    ASSERT_TRUE(again);
    EXPECT_TRUE(again->begun_before());
    EXPECT_FALSE(again->lost());
    EXPECT_EQ(again->exit().code(), 3);
    EXPECT_TRUE(again->job_clean());
    end_known();
    // Another agent, in another life of the controller.
    kill_agent();
    start_agent();
    accept_agent();
    launch("echo x >> count; exit 3");
    ASSERT_TRUE(report());
    EXPECT_EQ(read("count"), "x\n");
    end_known();
    // The same id, submitted at another time, is another job.
    launch("echo x >> count", 12, 5);
    EXPECT_FALSE(report()->begun_before());
    EXPECT_EQ(read("count"), "x\nx\n");
    end_known();
}

TEST_F(AgentTest, AScriptThatWasLostIsNotBegunAgainEither) {
    start_agent();
    accept_agent();
    launch("echo $$ > pid; echo x >> count; sleep 600");
    ASSERT_TRUE(wait_for_file("count"));
    ASSERT_TRUE(eventually([&] { return stepd_of("pid") > 1; }));
    const pid_t stepd = stepd_of("pid");
    kill_agent();
    ::kill(stepd, SIGKILL);
    // Whoever did that removed its socket, too.
    ASSERT_EQ(::unlink((dir + "/spool/" + stepd::socket_name({key(), ::getuid()})).c_str()), 0);
    start_agent();
    EXPECT_EQ(accept_agent().steps_size(), 0);
    launch("echo x >> count");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->lost());
    EXPECT_TRUE(end->begun_before());
    EXPECT_EQ(read("count"), "x\n");
    end_known();
}

TEST_F(AgentTest, TellsWhichScriptsBeganWhenItIsAsked) {
    start_agent();
    accept_agent();
    launch("exit 4", 12, 77);
    ASSERT_TRUE(report());
    end_known();
    launch("while [ ! -e go ]; do sleep 0.01; done", 13);
    ASSERT_TRUE(started());
    link.close();
    accept_agent(true);
    const auto told = next([](const auto& m) { return m.has_begun_scripts(); });
    ASSERT_TRUE(told);
    ASSERT_EQ(told->begun_scripts().scripts_size(), 2);
    const wire::BegunScript& first = told->begun_scripts().scripts(0);
    EXPECT_EQ(first.job(), 12u);
    EXPECT_EQ(first.submitted(), 77);
    EXPECT_EQ(first.exit().code(), 4);
    EXPECT_GE(first.ended(), first.began());
    EXPECT_EQ(told->begun_scripts().scripts(1).ended(), 0) << "it runs";
    ASSERT_TRUE(os::write_new_file(dir + "/desk/go", "", 0644));
    ASSERT_TRUE(report());
    end_known(13);
}

TEST_F(AgentTest, OneAgentPerNode) {
    start_agent();
    accept_agent();
    const pid_t first = agent;
    start_agent();
    int status = 0;
    ASSERT_EQ(::waitpid(agent, &status, 0), agent);
    EXPECT_EQ(WEXITSTATUS(status), 1);
    EXPECT_THAT(*os::read_file(dir + "/agent.log"),
                HasSubstr("already running as process " + std::to_string(first)));
    agent = first;
}

TEST_F(AgentTest, RelaysCommandsWithTheCallersIdentity) {
    start_agent();
    accept_agent();
    // Once it answers, it knows that it is registered.
    end_job(99, 0);
    ASSERT_TRUE(next([](const auto& m) { return m.has_job_clean(); }));
    Pipe command = connect_to(dir + "/run/agent-n1.sock");
    wire::Request request;
    request.set_id(7);
    request.mutable_ping();
    command.send(request);
    const auto open = next([](const auto& m) { return m.has_relay_open(); });
    ASSERT_TRUE(open);
    EXPECT_EQ(open->relay_open().uid(), ::getuid());
    const auto data = next([](const auto& m) { return m.has_relay_data(); });
    ASSERT_TRUE(data);
    wire::Request passed;
    ASSERT_TRUE(passed.ParseFromString(data->relay_data().frame()));
    EXPECT_EQ(passed.id(), 7u);

    wire::Reply reply;
    reply.set_id(7);
    wire::ControllerToAgent back;
    back.mutable_relay_data()->set_session(open->relay_open().session());
    back.mutable_relay_data()->set_frame(reply.SerializeAsString());
    link.send(back);
    const auto answer = command.receive<wire::Reply>();
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->id(), 7u);
    command.close();
    EXPECT_TRUE(next([](const auto& m) { return m.has_relay_close(); }));
}

TEST_F(AgentTest, RebootsOnceAndSaysWhatItIsToldToSay) {
    const std::string program = dir + "/reboot.sh";
    ASSERT_TRUE(
        os::write_new_file(program,
                           "#!/bin/sh\ncd " + dir +
                               "/desk\necho $SLURMD_NODENAME >> rebooted\n"
                               "while [ -e rebooted ] && [ ! -e go ]; do sleep 0.01; done\n",
                           0755));
    start_agent();
    accept_agent();
    wire::ControllerToAgent reboot;
    reboot.mutable_reboot()->set_program(program);
    link.send(reboot);
    ASSERT_TRUE(wait_for_file("rebooted"));
    link.send(reboot);  // Told again while it is at it.
    wire::ControllerToAgent level;
    level.mutable_log_level()->set_level(0);
    link.send(level);
    level.mutable_log_level()->set_level(3);
    link.send(level);
    // Orders are followed in turn: when the script has run, so have they.
    launch("echo done > done");
    ASSERT_TRUE(wait_for_file("done"));
    ASSERT_TRUE(report());
    end_known();
    EXPECT_EQ(read("rebooted"), "n1\n");
    const auto log = os::read_file(dir + "/agent.log");
    ASSERT_TRUE(log);
    EXPECT_NE(log->find("Set debug level to 'quiet'"), std::string::npos);
    EXPECT_EQ(log->find("Set debug level to 'info'"), std::string::npos) << *log;
    ASSERT_TRUE(os::write_new_file(dir + "/desk/go", "", 0644));
}

TEST_F(AgentTest, AConfigurationIsReadAgainWhenTheControllerSaysSoAndNobodyIsHungUpOn) {
    start_agent();
    accept_agent();
    // Once it answers, it knows that it is registered.
    end_job(99, 0);
    ASSERT_TRUE(next([](const auto& m) { return m.has_job_clean(); }));
    Pipe command = connect_to(dir + "/run/agent-n1.sock");
    ASSERT_TRUE(next([](const auto& m) { return m.has_relay_open(); }));
    const std::string prolog = dir + "/prolog.sh";
    ASSERT_TRUE(os::write_new_file(
        prolog, "#!/bin/sh\necho $SLURM_JOB_ID $SLURM_JOB_USER >> " + dir + "/desk/prepared\n",
        0755));
    wire::ControllerToAgent order;
    order.mutable_reconfigure();
    configure("Prolog=" + prolog + "\n");
    link.send(order);
    ASSERT_TRUE(eventually([&] { return log().contains("configuration read again"); }));
    launch("true");
    ASSERT_TRUE(report());
    end_known();
    const std::string user = os::user_name(::getuid());
    EXPECT_EQ(read("prepared"), "12 " + user + "\n");
    // A bad one is named, and changes nothing.
    configure("Prolog=" + prolog + "\nNodeName=bad CPUs=many\n");
    link.send(order);
    ASSERT_TRUE(eventually([&] { return log().contains("configuration not taken over"); }));
    launch("true", 13);
    ASSERT_TRUE(report());
    end_known(13);
    EXPECT_EQ(read("prepared"), "12 " + user + "\n13 " + user + "\n");
    // What was changed is told over the same connection.
    configure("TmpFS=/proc\n");
    link.send(order);
    EXPECT_TRUE(next([](const auto& m) { return m.has_register_(); }));
    wire::ControllerToAgent back;
    back.mutable_relay_data()->set_session(1);
    back.mutable_relay_data()->set_frame(wire::Reply().SerializeAsString());
    link.send(back);
    EXPECT_TRUE(command.receive<wire::Reply>()) << "it is still there";
}

TEST_F(AgentTest, AnAgentThatWasAwayReadsAConfigurationThatWasChangedMeanwhile) {
    start_agent();
    accept_agent();
    link.close();
    configure("SlurmdDebug=debug\n");
    accept_agent();
    EXPECT_TRUE(eventually([&] { return log().contains("configuration read again"); }));
}

TEST_F(AgentTest, AStepdThatDoesNotReactIsEndedAndTheNodeSaysSo) {
    const std::string program = dir + "/unkillable.sh";
    ASSERT_TRUE(os::write_new_file(program,
                                   "#!/bin/sh\necho $SLURM_JOB_ID $SLURM_STEP_ID "
                                   "$SLURMD_NODENAME >> " +
                                       dir + "/desk/unkillable\n",
                                   0755));
    configure("UnkillableStepTimeout=1\nUnkillableStepProgram=" + program + "\n");
    start_agent();
    accept_agent();
    launch("echo $$ > pid; sleep 600");
    ASSERT_TRUE(wait_for_file("pid"));
    ASSERT_TRUE(eventually([&] { return stepd_of("pid") > 1; }));
    const pid_t script = std::atoi(read("pid").c_str());
    ::kill(stepd_of("pid"), SIGSTOP);
    // Also one that an earlier agent started, and that never answered this one.
    kill_agent();
    start_agent();
    EXPECT_EQ(accept_agent().steps_size(), 1);
    end_job(12, 1);
    const auto fault = next([](const auto& m) { return m.load().problem() != ""; });
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->load().problem(), "Kill task failed");
    const auto end = report();
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->lost());
    EXPECT_TRUE(next([](const auto& m) { return m.has_job_clean(); }));
    EXPECT_FALSE(os::read_process(script) && os::read_process(script)->state != 'Z');
    EXPECT_EQ(read("unkillable"), "12 batch n1\n");
    end_known();
}

TEST_F(AgentTest, TermEndsTheAgentAndLeavesTheJobAlone) {
    start_agent();
    accept_agent();
    launch("echo $$ > pid; while [ ! -e go ]; do sleep 0.01; done");
    ASSERT_TRUE(wait_for_file("pid"));
    ::kill(agent, SIGTERM);
    int status = -1;
    ASSERT_EQ(::waitpid(agent, &status, 0), agent);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(os::read_process(std::atoi(read("pid").c_str())).has_value());
    start_agent();
    EXPECT_EQ(accept_agent().steps_size(), 1);
    ASSERT_TRUE(os::write_new_file(dir + "/desk/go", "", 0644));
    ASSERT_TRUE(report());
    end_known();
}

}  // namespace
}  // namespace switchyard::agent

int main(int argc, char** argv) {
    if (argc > 0 && std::string_view(argv[0]) == "slurmstepd")
        return switchyard::stepd::stepd_main(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
