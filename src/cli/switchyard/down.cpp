// down.cpp: the end of a cluster's daemons, and, unless told otherwise, of its running
// jobs.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "cli/output.hpp"
#include "cli/switchyard/daemons.hpp"
#include "cli/switchyard/generate.hpp"
#include "cli/switchyard/verbs.hpp"
#include "client/client.hpp"
#include "io/fd.hpp"
#include "os/files.hpp"

namespace switchyard::cli {
namespace {

constexpr Millis kStopPatience{10000};
constexpr Millis kAskAgain{50};

model::JobFilter jobs_on_nodes() {
    using model::JobState;
    model::JobFilter filter;
    filter.states = {JobState::Running, JobState::Suspended, JobState::Completing,
                     JobState::Configuring};
    return filter;
}

Result<std::size_t> count_jobs_on_nodes(client::Connection& connection) {
    client::JobsQuery query;
    query.filter = jobs_on_nodes();
    SY_TRY(const client::JobsChunk chunk, client::fetch_jobs(connection, query));
    return chunk.jobs.size();
}

// Nodes first: a job that ends must not make room for the next one.
Status end_jobs(const config::Config& config) {
    SY_TRY(client::Connection connection, client::Connection::open(config, "switchyard"));
    SY_TRY(const std::size_t running, count_jobs_on_nodes(connection));
    model::NodeUpdate drain;
    drain.verb = model::NodeVerb::Drain;
    drain.reason = kDownReason;
    SY_TRY(const client::NodesAnswer answer, client::fetch_nodes(connection));
    for (const model::Node& node : answer.nodes) {
        if (!node.drain && !node.down) drain.nodes.push_back(node.config.name);
    }
    if (!drain.nodes.empty()) SY_CHECK(client::update_nodes(connection, drain));
    if (running == 0) return {};

    print(fmt::format("Ending {} running {}\n", running, running == 1 ? "job" : "jobs"));
    model::JobFilter filter = jobs_on_nodes();
    std::erase(filter.states, model::JobState::Completing);
    SY_TRY(const client::BulkAnswer ended, client::signal_jobs(connection, filter, {}));
    const Millis patience = config.kill_wait + kStopPatience;
    for (Millis waited{0}; waited < patience; waited += kAskAgain) {
        SY_TRY(const std::size_t left, count_jobs_on_nodes(connection));
        if (left == 0) return {};
        std::this_thread::sleep_for(kAskAgain);
    }
    return fail(Errc::Timeout, "some jobs do not end; look at squeue, or use --keep-jobs");
}

Status stop_everything(const Place& place, bool keep_jobs) {
    const std::string lock_path = place.folder + "/.lock";
    const io::Fd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock) return os::errno_failure(lock_path);
    if (::flock(lock.get(), LOCK_EX) != 0) return os::errno_failure(lock_path);

    SY_TRY(const config::Config config, config::load_config(place.config));
    std::vector<std::pair<Daemon, pid_t>> running;
    for (const Daemon& daemon : daemons_here(config)) {
        if (const auto pid = find_daemon(daemon)) running.emplace_back(daemon, *pid);
    }
    const bool has_controller = !running.empty() && running.front().first.program == "slurmctld";
    if (!keep_jobs && has_controller) SY_CHECK(end_jobs(config));
    // Agents before the controller, so that it hears their last reports.
    for (auto it = running.rbegin(); it != running.rend(); ++it) {
        SY_CHECK(stop_daemon(it->first, it->second, kStopPatience));
    }
    if (running.empty()) {
        print(fmt::format("Cluster {} is not running\n", config.cluster_name));
    } else {
        print(fmt::format(
            "Cluster {} is down ({} daemons stopped); its queue and records stay in {}\n",
            config.cluster_name, running.size(), place.folder));
    }
    if (const std::size_t steps = count_steps(config); steps > 0) {
        print(fmt::format("{} job {} on; \"switchyard up\" finds {} again\n", steps,
                          steps == 1 ? "step goes" : "steps go", steps == 1 ? "it" : "them"));
    }
    return {};
}

}  // namespace

Result<Place> existing_place(const Wishes& wishes) {
    const char* chosen = std::getenv("SLURM_CONF");
    if (!wishes.name && !wishes.dir && chosen != nullptr && *chosen != '\0') {
        const std::string path = chosen;
        const auto text = os::read_file(path);
        const std::size_t slash = path.rfind('/');
        if (text && !find_shape_line(*text).empty() && slash != std::string::npos) {
            const auto config = config::load_client_config(path);
            if (config)
                return Place{config->cluster_name, path.substr(0, slash), path, config->run_dir,
                             ""};
        }
    }
    SY_TRY(const Place place, choose_place(wishes));
    if (!os::exists(place.config)) {
        return fail(
            Errc::NotFound,
            fmt::format("there is no cluster in {} (no slurm.conf); \"switchyard up\" makes one",
                        place.folder));
    }
    return place;
}

int take_down(const Place& place, bool keep_jobs) {
    const Status status = stop_everything(place, keep_jobs);
    return status ? 0 : complain(status.error().message);
}

int switchyard_down(const Arguments& arguments) {
    const WishesParsed parsed = parse_wishes("down", arguments);
    if (parsed.exit_code) return *parsed.exit_code;
    const Wishes& wishes = parsed.wishes;
    const auto place = existing_place(wishes);
    if (!place) return complain(place.error().message);
    return take_down(*place, wishes.keep_jobs);
}

}  // namespace switchyard::cli
