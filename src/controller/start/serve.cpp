// serve.cpp: a controller is put together, and listens.
#include <algorithm>

#include "controller/turn/controller.hpp"
#include "os/host.hpp"

namespace switchyard::controller {
namespace {

// Scripts and environments of those who start soon after they came; the others' are read back.
constexpr std::size_t kPayloadCacheBytes = 16u << 20;

bool all_nodes_are_here(const config::Config& config) {
    return std::ranges::all_of(config.nodes, [](const model::NodeConfig& node) {
        const std::string& host = node.host_name.empty() ? node.name : node.host_name;
        return os::is_this_host(node.address.empty() ? host : node.address) ||
               os::is_this_host(host);
    });
}

}  // namespace

Controller::Controller(io::Loop& loop, os::Log& log, Opened opened, Recovered recovered)
    : loop_(loop),
      log_(log),
      what_now_(std::move(opened.what_now)),
      config_(std::move(opened.config)),
      slurm_user_(opened.slurm_user),
      key_(std::move(opened.key)),
      cluster_(std::move(recovered.cluster)),
      now_(loop.now()),
      names_(loop),
      payloads_(kPayloadCacheBytes),
      sessions_(
          loop,
          {.on_request = [this](Session& session,
                                std::string_view frame) { dispatcher_.on_request(session, frame); },
           .on_gone = [this](Session& session,
                             bool path_broke) { on_session_gone(session, path_broke); }}),
      calls_(sessions_),
      agents_(
          loop, log, sessions_, config_.cluster_name,
          {.on_event = [this](core::Event event) { step(std::move(event)); },
           .is_configured =
               [this](const std::string& node) { return cluster_->find_node(node) != nullptr; },
           .asks_begun = [this](const std::string& node) { return cluster_->asks_begun(node); },
           .on_pids = [this](const std::string& node,
                             const wire::PidsAnswer& answer) { pids_.on_answer(node, answer); }}),
      addresses_(config_, agents_, *cluster_, names_),
      queries_{.loop = loop,
               .calls = calls_,
               .sessions = sessions_,
               .cluster = *cluster_,
               .names = names_,
               .agents = agents_,
               .durable = durable_,
               .reader = reader_,
               .streams = streams_,
               .pids = pids_,
               .now = [this] { return now(); }},
      streams_(queries_),
      pids_(queries_),
      dispatcher_(make_dispatcher()),
      mailer_(loop, log),
      trigger_programs_(loop, log),
      job_programs_(loop, config_, log,
                    [this](const core::event::ProgramEnded& event) { step(event); }),
      durable_(loop, log, reader_, *cluster_,
               [this]() -> const core::Changes& { return hold_changes(); }),
      reader_(std::move(opened.reader)),
      committer_(loop, std::move(opened.store),
                 [this](const std::string& why) { on_store_full(why); }) {
    step_launches_ = std::move(recovered.step_launches);
    restoring_ = recovered.restored;
    if (!recovered.ended_well) page_check_.emplace(loop, log, database_of(config_));
    figures_.started = now_;
    figures_.since = now_;
}

Controller::~Controller() = default;

Dispatcher Controller::make_dispatcher() {
    RequestContext requests{.calls = calls_,
                            .cluster = *cluster_,
                            .config = config_,
                            .names = names_,
                            .agents = agents_,
                            .log = log_,
                            .step = [this](core::Event event) { step(std::move(event)); }};
    AdminContext admin{.calls = calls_,
                       .cluster = *cluster_,
                       .config = config_,
                       .names = names_,
                       .agents = agents_,
                       .sessions = sessions_,
                       .log = log_,
                       .figures = figures_,
                       .cluster_key = key_.key,
                       .slurm_user = slurm_user_,
                       .now = [this] { return now(); },
                       .reconfigure = [this](core::Token token) { return reconfigure(token); },
                       .stop = [this] { stop(); },
                       .abort = [this] { abort(); }};
    return {names_, std::move(requests), queries_, std::move(admin),
            [this] { return store_is_full(); }};
}

Status Controller::serve() {
    SY_CHECK(listen());
    step(core::event::Tick{});
    purge();
    return {};
}

void Controller::on_session_gone(Session& session, bool path_broke) {
    for (const std::uint64_t token : session.tokens) {
        calls_.withdraw(core::Token{token});
        step(core::event::TokenGone{.token = core::Token{token}, .may_return = path_broke});
    }
}

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
