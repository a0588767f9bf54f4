// up.cpp: a cluster from nothing: folder, slurm.conf, daemons, and the wait until its
// nodes are ready.
#include <fcntl.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/switchyard/daemons.hpp"
#include "cli/switchyard/generate.hpp"
#include "cli/switchyard/verbs.hpp"
#include "client/client.hpp"
#include "io/fd.hpp"
#include "model/hostlist.hpp"
#include "os/files.hpp"
#include "os/machine.hpp"
#include "os/topology.hpp"
#include "os/users.hpp"

namespace switchyard::cli {
namespace {

constexpr std::uint16_t kFirstPort = 6817;
constexpr std::uint16_t kPortsTried = 200;
constexpr Millis kReadyPatience{30000};
constexpr Millis kAskAgain{20};

std::uint32_t count_cards() {
    std::uint32_t count = 0;
    while (os::exists(fmt::format("/dev/nvidia{}", count))) ++count;
    return count;
}

Result<Machine> look_at_machine() {
    SY_TRY(const os::Topology topology, os::find_topology());
    Machine machine;
    machine.host = os::host_name();
    machine.user = os::user_name(::geteuid());
    machine.cpus = topology.cpus();
    machine.memory = topology.memory;
    machine.gpus = count_cards();
    return machine;
}

// A port nobody listens on, so that clusters (and a real Slurm) stand side by side.
std::uint16_t choose_port() {
    for (std::uint16_t port = kFirstPort; port < kFirstPort + kPortsTried; ++port) {
        const io::Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_ANY);
        const int yes = 1;
        ::setsockopt(probe.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0)
            return port;
    }
    return kFirstPort;
}

Status write_config(const Place& place, const Wishes& wishes) {
    SY_TRY(const Machine machine, look_at_machine());
    SY_TRY(const Files files, generate(place, wishes, machine, choose_port()));
    const std::string gres = place.folder + "/gres.conf";
    if (!files.gres_conf.empty()) {
        SY_CHECK(os::write_new_file(gres, files.gres_conf, 0644));
    } else if (os::exists(gres)) {
        ::unlink(gres.c_str());
    }
    return os::write_new_file(place.config, files.slurm_conf, 0644);
}

bool anything_runs(const std::string& config_path) {
    const auto config = config::load_config(config_path);
    if (!config) return false;
    return std::ranges::any_of(daemons_here(*config), [](const Daemon& daemon) {
        return find_daemon(daemon).has_value();
    });
}

// The file as it is, unless another shape of cluster is asked for; then a new one, if nothing runs.
Status settle_config(const Place& place, const Wishes& wishes) {
    if (!os::exists(place.config)) return write_config(place, wishes);
    if (!wishes.shapes_cluster()) return {};
    SY_TRY(const std::string text, os::read_file(place.config));
    if (find_shape_line(text) == shape_line(wishes)) return {};
    if (anything_runs(place.config)) {
        return fail(Errc::Busy,
                    fmt::format("cluster {} is up with another shape of nodes; take it down first "
                                "(switchyard down), or choose another --name",
                                place.name));
    }
    print(fmt::format("Changing the nodes of cluster {}; the old configuration is kept as {}.old\n",
                      place.name, place.config));
    if (::rename(place.config.c_str(), (place.config + ".old").c_str()) != 0) {
        return os::errno_failure(place.config);
    }
    return write_config(place, wishes);
}

Status make_place(const Place& place) {
    const mode_t mode = ::geteuid() == 0 ? 0755 : 0700;
    SY_CHECK(os::make_folders(place.folder, mode));
    return os::make_folders(place.folder + "/log", 0755);
}

Result<io::Fd> lock_place(const Place& place) {
    const std::string path = place.folder + "/.lock";
    io::Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock) return os::errno_failure(path);
    if (::flock(lock.get(), LOCK_EX) != 0) return os::errno_failure(path);
    return lock;
}

// The default cluster, or the first one, is what commands find without SLURM_CONF.
void link_config(const Place& place) {
    if (place.shared_link.empty()) return;
    const bool leads_somewhere = os::exists(place.shared_link);
    if (leads_somewhere && place.name != kDefaultClusterName) return;
    ::unlink(place.shared_link.c_str());
    const std::string target = place.name + "/slurm.conf";
    if (::symlink(target.c_str(), place.shared_link.c_str()) != 0) {
        print(fmt::format("(could not make {}: commands need SLURM_CONF)\n", place.shared_link));
    }
}

// How many were not running and now are.
Result<std::size_t> start_missing(const std::vector<Daemon>& daemons) {
    std::size_t started = 0;
    for (const Daemon& daemon : daemons) {
        if (find_daemon(daemon)) continue;
        SY_CHECK(start_daemon(daemon));
        ++started;
    }
    return started;
}

bool is_ready(const model::Node& node) {
    const model::NodeState state = model::state_of(node);
    return node.responding && state != model::NodeState::Unknown &&
           (state != model::NodeState::Down || node.mark);
}

// The nodes of this host, once all their agents have come.
Result<std::vector<model::Node>> wait_for_nodes(const config::Config& config,
                                                const std::vector<Daemon>& daemons) {
    std::vector<std::string> wanted;
    for (const Daemon& daemon : daemons) {
        if (!daemon.node.empty()) wanted.push_back(daemon.node);
    }
    std::string why = "the controller does not answer";
    for (Millis waited{0}; waited < kReadyPatience; waited += kAskAgain) {
        auto connection = client::Connection::open(config, "switchyard");
        if (connection) {
            auto answer = client::fetch_nodes(*connection, wanted);
            if (answer) {
                std::vector<std::string> missing;
                for (const model::Node& node : answer->nodes) {
                    if (!is_ready(node)) missing.push_back(node.config.name);
                }
                if (missing.empty()) return std::move(answer->nodes);
                why = "waiting for " + model::compress_hostlist(missing);
            } else {
                why = answer.error().message;
            }
        }
        std::this_thread::sleep_for(kAskAgain);
    }
    return fail(Errc::Timeout,
                fmt::format("the cluster did not become ready in {} s ({}); look at the logs in {}",
                            kReadyPatience.count() / 1000, why,
                            config.path.substr(0, config.path.rfind('/')) + "/log"));
}

// `down` drained the nodes so that no pending job would start; that is over.
Status resume_nodes(const config::Config& config, const std::vector<model::Node>& nodes) {
    model::NodeUpdate update;
    update.verb = model::NodeVerb::Resume;
    for (const model::Node& node : nodes) {
        if (node.drain && node.mark && node.mark->reason == kDownReason)
            update.nodes.push_back(node.config.name);
    }
    if (update.nodes.empty()) return {};
    SY_TRY(client::Connection connection, client::Connection::open(config, "switchyard"));
    return client::update_nodes(connection, update);
}

std::string real_path(const std::string& path) {
    char resolved[PATH_MAX];
    return ::realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

// What a shell must be told before the commands reach this cluster: nothing, at best.
std::string needed_exports(const Place& place) {
    std::string text;
    const std::string folder = own_folder();
    std::string found;
    const char* path = std::getenv("PATH");
    for (const std::string_view entry : split(path != nullptr ? path : "", ':')) {
        const std::string candidate = std::string(entry) + "/sbatch";
        if (::access(candidate.c_str(), X_OK) != 0) continue;
        found = real_path(candidate);
        break;
    }
    // Commands are links to programs that stand side by side.
    if (found.substr(0, found.rfind('/')) != folder)
        text += fmt::format("  export PATH={}:$PATH\n", folder);
    const auto config = config::find_config_file();
    if (!config || real_path(*config) != real_path(place.config)) {
        text += fmt::format("  export SLURM_CONF={}\n", place.config);
    }
    return text;
}

std::string describe_nodes(const std::vector<model::Node>& nodes) {
    if (nodes.empty()) return "no nodes on this host";
    std::vector<std::string> names;
    for (const model::Node& node : nodes) names.push_back(node.config.name);
    const model::Node& first = nodes.front();
    std::uint32_t cpus = first.config.cpus;
    std::uint64_t memory = first.config.memory.value;
    if (first.facts && cpus == 0) cpus = first.facts->cpus;
    if (first.facts && memory == 0) memory = first.facts->memory.value;
    return fmt::format("{} {} ({}), {} CPUs and {} MB {}", nodes.size(),
                       nodes.size() == 1 ? "node" : "nodes", model::compress_hostlist(names), cpus,
                       memory, nodes.size() == 1 ? "in all" : "each");
}

void report(const Place& place, const std::vector<model::Node>& nodes, std::size_t started,
            std::size_t all) {
    const char* how = started == 0 ? "is up already" : started == all ? "is up" : "is up again";
    print(fmt::format("Cluster {} {}: {}\n", place.name, how, describe_nodes(nodes)));
    if (!nodes.empty() && nodes.front().facts) {
        print(fmt::format("  containment    {}\n", nodes.front().facts->containment));
    }
    print(
        fmt::format("  configuration  {}\n  logs           {}/log\n", place.config, place.folder));
    const std::string exports = needed_exports(place);
    if (!exports.empty()) print(fmt::format("\nIn every shell that is to use it:\n{}", exports));
    const char* wide = nodes.size() > 1 ? "-N2 " : "";
    print(
        fmt::format("\nThen try:\n"
                    "  sinfo\n"
                    "  sbatch {}--wrap 'srun hostname'\n"
                    "  squeue\n"
                    "  srun --pty bash\n",
                    wide));
}

Status bring_up(const Place& place, const Wishes& wishes) {
    SY_CHECK(make_place(place));
    SY_TRY(const io::Fd lock, lock_place(place));
    SY_CHECK(settle_config(place, wishes));
    SY_TRY(const config::Config config, config::load_config(place.config));
    for (const auto& notice : config.notices)
        print(fmt::format("{}: {}\n", notice.where, notice.text));
    link_config(place);

    const std::vector<Daemon> daemons = daemons_here(config);
    if (daemons.empty()) {
        return fail(Errc::InvalidArgument,
                    fmt::format("{} has neither controller nor nodes on this host ({})",
                                place.config, os::host_name()));
    }
    SY_TRY(const std::size_t started, start_missing(daemons));
    SY_TRY(const std::vector<model::Node> nodes, wait_for_nodes(config, daemons));
    SY_CHECK(resume_nodes(config, nodes));
    report(place, nodes, started, daemons.size());
    return {};
}

int stay_until_interrupted(const Place& place) {
    print("\nRunning until interrupted (Ctrl-C).\n");
    sigset_t ends;
    sigemptyset(&ends);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
    int got = 0;
    sigwait(&ends, &got);
    return take_down(place, false);
}

}  // namespace

int switchyard_up(const Arguments& arguments) {
    const WishesParsed parsed = parse_wishes("up", arguments);
    if (parsed.exit_code) return *parsed.exit_code;
    const Wishes& wishes = parsed.wishes;
    const auto place = choose_place(wishes);
    if (!place) return complain(place.error().message);
    if (wishes.foreground) {
        // Blocked before the daemons start, so that no interrupt falls between; spawn() gives them
        // a clean mask.
        sigset_t ends;
        sigemptyset(&ends);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, signal);
        ::sigprocmask(SIG_BLOCK, &ends, nullptr);
    }
    if (const Status status = bring_up(*place, wishes); !status)
        return complain(status.error().message);
    return wishes.foreground ? stay_until_interrupted(*place) : 0;
}

}  // namespace switchyard::cli
