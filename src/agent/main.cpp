// main.cpp: the slurmd program: reads the configuration, finds out which node it is and what the
// machine offers, and runs the agent.
#include "agent/main.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "agent/agent.hpp"
#include "agent/facts.hpp"
#include "agent/options.hpp"
#include "base/log_level.hpp"
#include "base/version.hpp"
#include "os/beneath.hpp"
#include "os/daemon.hpp"
#include "os/files.hpp"
#include "os/machine.hpp"
#include "stepd/hosts.hpp"

namespace switchyard::agent {
namespace {

int complain(const Error& error) {
    fmt::print(stderr, "slurmd: error: {}\n", error.message);
    return 1;
}

Result<config::Config> read_config(const Options& options) {
    std::string path = options.config;
    if (path.empty()) {
        SY_TRY(path, config::find_config_file());
    }
    return config::load_config(path);
}

Result<AgentPlan> make_plan(const Options& options, const os::Log& log) {
    AgentPlan plan;
    SY_TRY(plan.config, read_config(options));
    const std::string host = os::host_name();
    SY_TRY(const auto node, find_node(plan.config, options.node, host));
    plan.relay_only = !node.has_value();
    plan.name = node ? node->name : host;
    if (!node) return plan;

    SY_TRY(const os::Topology topology, os::find_topology());
    plan.setup.node = plan.name;
    plan.setup.spool = plan.config.spool_for(plan.name);
    plan.setup.pretend = is_pretend(*node);
    plan.setup.scripts = {.prolog = plan.config.prolog,
                          .epilog = plan.config.epilog,
                          .prolog_timeout = plan.config.prolog_timeout,
                          .epilog_timeout = plan.config.epilog_timeout,
                          .serial = plan.config.prolog_serial,
                          .spool = plan.setup.spool,
                          .cluster = plan.config.cluster_name,
                          .config_path = plan.config.path,
                          .node = plan.name};
    plan.setup.unkillable_timeout = plan.config.unkillable_timeout;
    plan.setup.unkillable_program = plan.config.unkillable_program;
    plan.setup.core_cpus = place_cores(plan.config, *node, topology);
    if (plan.setup.core_cpus.empty()) {
        log.info(
            fmt::format("the nodes on this host have more cores than its {}: jobs are not pinned",
                        topology.cores()));
    }
    const std::string place = os::place_of(plan.config.cluster_name, plan.name, plan.setup.spool);
    plan.setup.containment = os::find_containment(plan.config.cgroup_plugin, place);
    log.info(fmt::format("containment: {}", plan.setup.containment.kind));
    for (const std::string& notice : plan.setup.containment.notices) log.info(notice);
    plan.gpus = find_gpus(plan.config, *node, plan.setup.core_cpus, plan.setup.containment);
    for (const std::string& notice : plan.gpus.notices) log.info(notice);
    if (!plan.gpus.problem.empty()) log.error(plan.gpus.problem);
    plan.setup.gres = plan.gpus.gres;
    plan.setup.share_folder = plan.gpus.share_folder;
    plan.facts = make_facts(plan.config, *node, topology, plan.setup.containment.kind);
    if (options.count_as_boot) plan.facts.booted = plan.facts.agent_started;
    plan.facts.gres = plan.gpus.gres;
    plan.facts.problem = plan.gpus.problem;
    return plan;
}

Status make_folders(const AgentPlan& plan) {
    SY_CHECK(os::make_folders(plan.config.run_dir, 0755));
    if (plan.relay_only) return {};
    SY_CHECK(os::make_folders(plan.setup.spool, 0755));
    return os::close_to_others(plan.setup.spool);
}

// Pretend nodes of this host resolve for all its jobs at once; what lies elsewhere is each stepd's
// own affair.
void resolve_neighbours(const AgentPlan& plan, const os::Log& log) {
    if (!plan.setup.pretend || ::geteuid() != 0) return;
    std::vector<stepd::HostName> hosts;
    std::string own;
    for (const model::NodeConfig& node : plan.config.nodes) {
        if (node.name == plan.name) own = node.host_name;
    }
    for (const model::NodeConfig& node : plan.config.nodes) {
        if (node.host_name == own) hosts.push_back({node.name, "127.0.0.1"});
    }
    const auto present = os::read_file("/etc/hosts");
    const auto text = stepd::extended_hosts(present ? *present : "", hosts, true);
    if (!text) return;
    if (const Status mounted = stepd::mount_hosts(*text, plan.setup.spool); !mounted) {
        log.info(
            fmt::format("node names may not resolve inside jobs: {}", mounted.error().message));
    }
}

int print_hardware() {
    const auto topology = os::find_topology();
    if (!topology) return complain(topology.error());
    const auto up = std::chrono::floor<Seconds>(os::now() - os::booted_at());
    std::fputs(hardware_lines(os::host_name(), *topology, up).c_str(), stdout);
    return 0;
}

int print_gres(const Options& options) {
    const auto config = read_config(options);
    if (!config) return complain(config.error());
    const auto node = find_node(*config, options.node, os::host_name());
    if (!node) return complain(node.error());
    const auto topology = os::find_topology();
    if (!topology) return complain(topology.error());
    if (!*node) return complain({Errc::NotFound, "this host is no node of the cluster"});
    const auto cores = place_cores(*config, **node, *topology);
    const NodeGpus gpus = find_gpus(*config, **node, cores, {});
    for (const std::string& notice : gpus.notices) fmt::print(stderr, "slurmd: {}\n", notice);
    if (!gpus.problem.empty()) fmt::print(stderr, "slurmd: error: {}\n", gpus.problem);
    std::fputs(gres_lines(gpus.gres, topology->cores()).c_str(), stdout);
    return gpus.problem.empty() ? 0 : 1;
}

// The driver's library starts a thread of its own as soon as it is asked for cards. A signal that
// the loop is to take must not find that thread ready for it: the agent would die of it.
void hold_signals() {
    sigset_t taken;
    sigemptyset(&taken);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR2}) sigaddset(&taken, signal);
    ::pthread_sigmask(SIG_BLOCK, &taken, nullptr);
}

void set_log_level(const Options& options, const config::Config& config, os::Log& log) {
    log.set_level(options.verbose > 0 ? kLogDebug
                                      : parse_log_level(config.agent_debug).value_or(kLogInfo));
}

int run(const Options& options, AgentPlan plan, os::Log& log, os::Background& background) {
    const std::string lock_path =
        plan.relay_only ? fmt::format("{}/slurmd-{}.lock", plan.config.run_dir, plan.name)
                        : plan.setup.spool + "/slurmd.pid";
    const auto lock = os::lock_pid_file(lock_path);
    if (!lock) return complain(lock.error());
    const std::string pid_file = plan.config.expand(plan.config.agent_pid_file, plan.name);
    if (!pid_file.empty()) {
        if (const Status written =
                os::write_new_file(pid_file, fmt::format("{}\n", ::getpid()), 0644);
            !written) {
            log.info(written.error().message);
        }
    }
    resolve_neighbours(plan, log);
    for (const config::Config::Notice& notice : plan.config.notices)
        log.info(fmt::format("{}: {}", notice.where, notice.text));
    log.info(plan.relay_only ? fmt::format("login host {}: relays commands only", plan.name)
                             : fmt::format("agent of node {} started", plan.name));

    // Every large request would first sweep up the small free pieces that the last message left.
    ::mallopt(M_MXFAST, 0);
    io::Loop loop;
    const auto stop = [&loop, &log] {
        log.info("stopping; running steps go on");
        loop.stop();
    };
    const auto on_term = loop.on_signal(SIGTERM, stop);
    const auto on_int = loop.on_signal(SIGINT, stop);
    Agent agent(loop, std::move(plan), log, [&]() -> Result<AgentPlan> {
        SY_TRY(AgentPlan fresh, make_plan(options, log));
        set_log_level(options, fresh.config, log);
        return fresh;
    });
    const auto open_log_anew = [&] {
        if (const Status opened = log.reopen(); !opened) log.error(opened.error().message);
        agent.on_log_opened();
    };
    const auto on_hup = loop.on_signal(SIGHUP, [&] {
        open_log_anew();
        agent.reconfigure();
    });
    const auto on_rotated = loop.on_signal(SIGUSR2, open_log_anew);
    if (const Status started = agent.start(); !started) return complain(started.error());
    background.become_ready();
    loop.run();
    agent.stop();
    if (!pid_file.empty()) ::unlink(pid_file.c_str());
    return 0;
}

}  // namespace

int agent_main(int argc, char** argv) {
    const auto options = parse_options(argc, argv);
    if (!options) {
        complain(options.error());
        std::fputs(usage(), stderr);
        return 1;
    }
    if (options->help) return std::fputs(usage(), stdout) < 0;
    if (options->version) return fmt::print("slurm {}\n", kSlurmRelease), 0;
    if (options->print_hardware) return print_hardware();
    if (options->print_gres) return print_gres(*options);

    ::umask(022);
    ::signal(SIGPIPE, SIG_IGN);
    os::Log log;
    auto config = read_config(*options);
    if (!config) return complain(config.error());
    set_log_level(*options, *config, log);
    const std::string name = options->node.empty() ? os::host_name() : options->node;
    const std::string log_path =
        !options->log.empty() ? options->log : config->expand(config->agent_log, name);
    os::Background background;
    if (!options->foreground) {
        if (const Status entered = background.enter(); !entered) return complain(entered.error());
    }
    hold_signals();
    // What makes a daemon useless is said on the terminal too, before the log takes over.
    auto plan = make_plan(*options, log);
    if (!plan) return complain(plan.error());
    if (const Status made = make_folders(*plan); !made) return complain(made.error());
    if (const Status opened = log.open(log_path); !opened) return complain(opened.error());
    log.take_stderr();
    return run(*options, *std::move(plan), log, background);
}

}  // namespace switchyard::agent
