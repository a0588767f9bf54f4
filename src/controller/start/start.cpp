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

#include "controller/start/settings.hpp"
#include "controller/turn/controller.hpp"
#include "wire/cluster_key.hpp"
#include "wire/job_folding.hpp"

namespace switchyard::controller {
namespace {

// Scripts and environments of those who start soon after they came; the others' are read back.
constexpr std::size_t kPayloadCacheBytes = 16u << 20;

std::string database_of(const config::Config& config) {
    return config.state_dir + "/switchyard.db";
}

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

Result<std::unique_ptr<store::Store>> open_store(const config::Config& config,
                                                 const StartOptions& options, bool has_run_before,
                                                 Log& log) {
    const std::string database = database_of(config);
    store::SqliteOptions how = options.store;
    how.keep_payloads = config.keep_scripts || config.keep_environments;
    how.has_run_before = has_run_before;
    if (options.restore) how.opening = store::Opening::Restored;
    if (options.clear_state) {
        // Locked first: a controller that still runs on this state must refuse us.
        SY_TRY(const io::Fd lock, store::lock_database(database));
        put_aside(database, log);
        how.opening = store::Opening::Cleared;
    }
    return store::open_sqlite(database, how);
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
    records.restored = loaded.restored;
    return records;
}

struct Recovered {
    std::unique_ptr<core::Cluster> cluster;
    std::vector<store::StepLaunchRow> step_launches;
    bool ended_well = false, restored = false;
};

Result<Recovered> recover(store::Store& store, core::Settings settings, Instant now, Log& log,
                          WhatNow& what_now) {
    SY_TRY(store::Loaded loaded, store.load());
    Recovered out{.cluster = nullptr,
                  .step_launches = std::move(loaded.step_launches),
                  .ended_well = loaded.ended_well,
                  .restored = loaded.restored};
    const std::size_t nodes = loaded.nodes.size();
    const std::uint64_t epoch = loaded.epoch;
    const Instant ended_since = now - settings.min_job_age;
    core::Records records = to_records(std::move(loaded));
    Status status;
    const WhatNow::At at(what_now, "loading the records");
    records.jobs = [&](const core::Records::TakeJob& take) {
        status = store.load_jobs(ended_since, [&](model::Job job, std::vector<model::Step> steps) {
            what_now.set("loading the record", job.id);
            take(std::move(job), std::move(steps));
        });
        what_now.set("putting the records together", {});
    };
    out.cluster =
        std::make_unique<core::Cluster>(std::move(settings), std::move(records), now,
                                        core::JobKeeping{.folding = wire::make_job_folding()});
    if (!status) return Failure{status.error()};
    log.info("Recovered state of {} jobs, {} steps, {} nodes (epoch {})",
             out.cluster->jobs().size(), out.cluster->steps().size(), nodes, epoch);
    if (out.restored) log.info("The records are a restored backup: nodes are asked what they ran");
    return out;
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
    std::uint32_t slurm_user = 0;
    wire::PresharedKey key;
    Recovered recovered;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<store::Reader> reader;
    std::shared_ptr<WhatNow> what_now;
};

Result<std::unique_ptr<Controller>> Controller::create(io::Loop& loop, Log& log,
                                                       config::Config config,
                                                       const StartOptions& options) {
    raise_descriptor_limit();
    log.follow(config);
    SY_CHECK(make_folder(config.state_dir, 0700));
    SY_CHECK(make_folder(config.run_dir, 0755));
    SY_TRY(const std::uint32_t slurm_user, find_slurm_user(config));
    SY_TRY(core::Settings settings, to_settings(config, slurm_user));
    // The key is made with the first database: where it is, there was one.
    const bool has_run_before = ::access(config.key_file.c_str(), F_OK) == 0;
    SY_TRY(auto store, open_store(config, options, has_run_before, log));
    SY_TRY(wire::PresharedKey key,
           wire::load_or_create_cluster_key(config.key_file, config.cluster_name));
    const Instant now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
    SY_TRY(auto reader, store->open_reader());
    SY_TRY(Recovered recovered, recover(*store, std::move(settings), now, log, *options.what_now));
    Parts parts{.config = std::move(config),
                .slurm_user = slurm_user,
                .key = std::move(key),
                .recovered = std::move(recovered),
                .store = std::move(store),
                .reader = std::move(reader),
                .what_now = options.what_now};
    std::unique_ptr<Controller> controller(new Controller(loop, log, std::move(parts)));
    SY_CHECK(controller->listen());
    controller->step(core::event::Tick{});
    controller->purge();
    return controller;
}

Controller::Controller(io::Loop& loop, Log& log, Parts parts)
    : loop_(loop),
      log_(log),
      what_now_(std::move(parts.what_now)),
      config_(std::move(parts.config)),
      slurm_user_(parts.slurm_user),
      key_(std::move(parts.key)),
      cluster_(std::move(parts.recovered.cluster)),
      now_(loop.now()),
      names_(loop),
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
           .asks_begun = [this](const std::string& node) { return cluster_->asks_begun(node); },
           .on_pids = [this](const std::string& node,
                             const wire::PidsAnswer& answer) { pids_.on_answer(node, answer); }}),
      addresses_(config_, agents_, *cluster_, names_),
      streams_(*this),
      pids_(*this),
      mailer_(loop, log),
      trigger_programs_(loop, log),
      job_programs_(loop, config_, log,
                    [this](const core::event::ProgramEnded& event) { step(event); }),
      durable_(loop, log, reader_, *cluster_,
               [this]() -> const core::Changes& { return hold_changes(); }),
      reader_(std::move(parts.reader)),
      committer_(loop, std::move(parts.store),
                 [this](const std::string& why) { on_store_full(why); }) {
    for (store::StepLaunchRow& row : parts.recovered.step_launches)
        step_launches_.emplace(row.key, std::move(row.record));
    restoring_ = parts.recovered.restored;
    if (!parts.recovered.ended_well) page_check_.emplace(loop, log, database_of(config_));
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
