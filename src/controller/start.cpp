// start.cpp: from a configuration to a controller that listens.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "controller/controller.hpp"
#include "controller/settings.hpp"
#include "wire/cluster_key.hpp"
#include "wire/job_folding.hpp"

namespace switchyard::controller {
namespace {

// Scripts and environments of those who start soon after they came; the others' are read back.
constexpr std::size_t kPayloadCacheBytes = 16u << 20;

Status make_folder(const std::string& path, std::uint32_t mode) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (error)
        return fail(Errc::Io, fmt::format("cannot make the folder {}: {}", path, error.message()));
    // Where it was made for us with another mode, that was somebody's choice; only our own is set.
    struct stat facts{};
    if (::stat(path.c_str(), &facts) == 0 && facts.st_uid == ::geteuid())
        ::chmod(path.c_str(), mode);
    return {};
}

// -c: the old state is moved aside, not destroyed.
void put_aside(const std::string& database, Log& log) {
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    for (const char* suffix : {"", "-wal", "-shm"}) {
        const std::string from = database + suffix;
        const std::string to = fmt::format("{}.cleared-{}{}", database, now, suffix);
        if (::rename(from.c_str(), to.c_str()) == 0) log.info("{} moved to {}", from, to);
    }
}

core::Records to_records(store::Loaded loaded) {
    core::Records records;
    records.nodes = std::move(loaded.nodes);
    records.partitions = std::move(loaded.partitions);
    records.deleted_partitions = std::move(loaded.deleted_partitions);
    records.triggers = std::move(loaded.triggers);
    records.last_trigger_id = loaded.last_trigger_id;
    records.next_job_id = loaded.next_job_id.value_or(JobId{0});
    records.reservations = std::move(loaded.reservations);
    records.next_reservation_id = loaded.next_reservation_id.value_or(0);
    return records;
}

Result<std::unique_ptr<core::Cluster>> recover(store::Store& store, core::Settings settings,
                                               Instant now, Log& log,
                                               std::vector<store::StepLaunchRow>& launches) {
    SY_TRY(store::Loaded loaded, store.load());
    launches = std::move(loaded.step_launches);
    const std::size_t nodes = loaded.nodes.size();
    const std::uint64_t epoch = loaded.epoch;
    const Instant ended_since = now - settings.min_job_age;
    core::Records records = to_records(std::move(loaded));
    Status status;
    records.jobs = [&](const core::Records::TakeJob& take) {
        status = store.load_jobs(ended_since, take);
    };
    auto cluster =
        std::make_unique<core::Cluster>(std::move(settings), std::move(records), now,
                                        core::JobKeeping{.folding = wire::make_job_folding()});
    if (!status) return Failure{status.error()};
    log.info("Recovered state of {} jobs, {} steps, {} nodes (epoch {})", cluster->jobs().size(),
             cluster->steps().size(), nodes, epoch);
    return cluster;
}

void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool all_nodes_are_here(const config::Config& config) {
    return std::ranges::all_of(config.nodes, [](const model::NodeConfig& node) {
        const std::string& host = node.host_name.empty() ? node.name : node.host_name;
        return is_this_host(node.address.empty() ? host : node.address) || is_this_host(host);
    });
}

}  // namespace

struct Controller::Parts {
    config::Config config;
    wire::PresharedKey key;
    std::unique_ptr<core::Cluster> cluster;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<store::Reader> reader;
    std::vector<store::StepLaunchRow> step_launches;
};

Result<std::unique_ptr<Controller>> Controller::create(io::Loop& loop, Log& log,
                                                       config::Config config,
                                                       const StartOptions& options) {
    raise_descriptor_limit();
    log.follow(config);
    SY_CHECK(make_folder(config.state_dir, 0700));
    SY_CHECK(make_folder(config.run_dir, 0755));
    SY_TRY(core::Settings settings, to_settings(config));
    SY_TRY(wire::PresharedKey key,
           wire::load_or_create_cluster_key(config.key_file, config.cluster_name));
    const std::string database = config.state_dir + "/switchyard.db";
    if (options.clear_state) {
        // Opened once first: a controller that still runs on this state must refuse us.
        SY_TRY(auto probe, store::open_sqlite(database));
        probe.reset();
        put_aside(database, log);
    }
    store::SqliteOptions store_options = options.store;
    store_options.keep_payloads = config.keep_scripts || config.keep_environments;
    SY_TRY(auto store, store::open_sqlite(database, store_options));
    const Instant now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    SY_TRY(auto reader, store->open_reader());
    std::vector<store::StepLaunchRow> launches;
    SY_TRY(auto cluster, recover(*store, std::move(settings), now, log, launches));
    Parts parts{.config = std::move(config),
                .key = std::move(key),
                .cluster = std::move(cluster),
                .store = std::move(store),
                .reader = std::move(reader),
                .step_launches = std::move(launches)};
    std::unique_ptr<Controller> controller(new Controller(loop, log, std::move(parts)));
    SY_CHECK(controller->listen());
    controller->step(core::event::Tick{});
    controller->purge();
    return controller;
}

Controller::Controller(io::Loop& loop, Log& log, Parts parts)
    : loop_(loop),
      log_(log),
      config_(std::move(parts.config)),
      key_(std::move(parts.key)),
      cluster_(std::move(parts.cluster)),
      now_(loop.now()),
      payloads_(kPayloadCacheBytes),
      sessions_(loop,
                {.on_request = [this](Session& session,
                                      std::string_view frame) { on_request(session, frame); },
                 .on_gone = [this](Session& session,
                                   bool path_broke) { on_session_gone(session, path_broke); }}),
      agents_(
          loop, log, sessions_, config_.cluster_name,
          {.on_event = [this](core::Event event) { step(std::move(event)); },
           .is_configured =
               [this](const std::string& node) { return cluster_->find_node(node) != nullptr; },
           .on_pids = [this](const std::string& node,
                             const wire::PidsAnswer& answer) { pids_.on_answer(node, answer); }}),
      addresses_(config_, agents_, *cluster_),
      streams_(*this),
      pids_(*this),
      mailer_(loop, log),
      trigger_programs_(loop, log),
      job_programs_(loop, config_, log,
                    [this](const core::event::ProgramEnded& event) { step(event); }),
      reader_(std::move(parts.reader)),
      committer_(loop, std::move(parts.store),
                 [this](const std::string& why) { on_store_full(why); }) {
    for (store::StepLaunchRow& row : parts.step_launches)
        step_launches_.emplace(row.key, std::move(row.record));
    figures_.started = now_;
    figures_.since = now_;
}

Controller::~Controller() = default;

Status Controller::listen() {
    SY_TRY(clients_,
           wire::Listener::on_unix(loop_, config_.controller_socket(), 0666,
                                   [this](io::Fd socket) { sessions_.accept(std::move(socket)); }));
    SY_TRY(local_agents_, wire::Listener::on_unix(
                              loop_, config_.controller_agent_socket(), 0600,
                              [this](io::Fd socket) { agents_.accept_local(std::move(socket)); }));
    return listen_for_remote_agents();
}

Status Controller::listen_for_remote_agents() {
    if (config_.controller_port == 0) return {};
    auto listener = wire::Listener::on_tcp(
        loop_, "", config_.controller_port,
        [this](io::Fd socket) { agents_.accept_remote(std::move(socket), key_); });
    if (listener) {
        remote_agents_ = *std::move(listener);
        return {};
    }
    if (!all_nodes_are_here(config_)) return Failure{listener.error()};
    log_.error("{}: only nodes on this host can connect, which are all there are",
               listener.error().message);
    return {};
}

}  // namespace switchyard::controller
