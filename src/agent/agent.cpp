#include "agent/agent.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <utility>

#include "base/log_level.hpp"
#include "base/version.hpp"
#include "os/machine.hpp"
#include "os/spawn.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::agent {
namespace {

constexpr Seconds kLoadPeriod{30};

}  // namespace

Agent::Agent(io::Loop& loop, AgentPlan plan, os::Log& log, ReadAgain read_again)
    : loop_(loop),
      plan_(std::move(plan)),
      log_(log),
      read_again_(std::move(read_again)),
      config_mark_(config::change_mark(plan_.config)),
      link_(loop, plan_.config, log,
            {.fill_registration =
                 [this](wire::AgentToController& message) { fill_registration(message); },
             .registered =
                 [this](const wire::Registered& answer) {
                     if (steps_ && answer.ask_begun()) steps_->report_begun();
                     if (steps_) steps_->report_again();
                     if (keeper_) keeper_->report_again();
                     // It may have been told to read it again while we were away.
                     if (config::change_mark(plan_.config) != config_mark_) reconfigure();
                 },
             .message = [this](const wire::ControllerToAgent& message) { on_message(message); },
             .lost =
                 [this] {
                     log_.info("the controller is gone");
                     if (relay_) relay_->drop_all();
                 }}) {
    if (!plan_.relay_only) {
        steps_.emplace(loop, plan_.setup, log,
                       [this](const wire::AgentToController& message) { link_.send(message); });
        steps_->on_fault([this](const std::string& reason) { on_fault(reason); });
    }
}

Status Agent::start() {
    Relay::Link link{
        .send =
            [this](const wire::AgentToController& message) {
                link_.send(message);
                return link_.is_registered();
            },
        .unsent_bytes = [this] { return link_.unsent_bytes(); },
        .on_drained =
            [this](std::function<void()> callback) { link_.on_drained(std::move(callback)); }};
    SY_TRY(relay_, Relay::listen(loop_, plan_.config.agent_socket(plan_.name), std::move(link)));
    if (steps_) {
        steps_->recover();
        start_keeper();
        send_load();
    }
    link_.connect();
    return {};
}

// Shares that cannot be kept are not given out: the node says so and is drained.
void Agent::start_keeper() {
    if (!steps_) return;
    keeper_.reset();
    keeper_ = std::make_unique<GpuKeeper>(
        loop_, plan_.config, plan_.name, plan_.gpus, *steps_, log_,
        GpuKeeper::Handlers{
            .changed = [this] { send_load(); },
            .idle = [this](const Steps::JobKey& job,
                           std::optional<Instant> since) { report_idle(job, since); }});
    if (const Status started = keeper_->start(); !started) {
        log_.error(started.error().message);
        if (plan_.facts.problem.empty())
            plan_.facts.problem =
                fmt::format("shares of cards cannot be kept: {}", started.error().message);
    }
}

void Agent::report_idle(const Steps::JobKey& job, std::optional<Instant> since) {
    wire::AgentToController message;
    wire::GpuIdle& idle = *message.mutable_gpu_idle();
    idle.set_job(job.first.value);
    idle.set_attempt(job.second.value);
    if (since) idle.set_since(since->time_since_epoch().count());
    link_.send(message);
}

// The controller drains a node whose problem it has not heard of.
void Agent::on_fault(const std::string& reason) {
    fault_ = reason;
    send_load();
}

std::string Agent::problem() const {
    if (!fault_.empty()) return fault_;
    if (!plan_.facts.problem.empty() || !keeper_) return plan_.facts.problem;
    return keeper_->problem();
}

void Agent::stop() {
    if (keeper_) keeper_->stop();
}

void Agent::fill_registration(wire::AgentToController& message) {
    wire::Register& out = *message.mutable_register_();
    out.set_protocol(wire::kProtocol);
    out.set_node(plan_.name);
    out.set_version(std::string(kSlurmRelease));
    out.set_relay_only(plan_.relay_only);
    if (!steps_) return;
    plan_.facts.cpu_load = os::load_average();
    plan_.facts.free_memory = os::free_memory();
    if (keeper_) plan_.facts.card_use = keeper_->card_use();
    wire::encode(plan_.facts, out.mutable_facts());
    out.mutable_facts()->set_problem(problem());
    for (const StepKey& key : steps_->keys()) wire::encode_key(key, out.add_steps());
}

void Agent::on_message(const wire::ControllerToAgent& message) {
    using Body = wire::ControllerToAgent;
    switch (message.body_case()) {
        case Body::kRelayData:
            return relay_->on_data(message.relay_data());
        case Body::kRelayClose:
            return relay_->on_close(message.relay_close().session());
        case Body::kLogLevel:
            log_.info(fmt::format("Set debug level to '{}'",
                                  log_level_name(message.log_level().level())));
            return log_.set_level(message.log_level().level());
        case Body::kReconfigure:
            return reconfigure();
        case Body::kShutdown:
            log_.info("shut down by the controller; running steps go on");
            return loop_.stop();
        default:
            break;
    }
    if (!steps_) return;
    switch (message.body_case()) {
        case Body::kLaunch:
            return steps_->launch(wire::LaunchStep(message.launch()));
        case Body::kPrepareJob:
            return steps_->prepare(message.prepare_job());
        case Body::kSignal:
            return steps_->signal(message.signal());
        case Body::kEndStep:
            return steps_->end_step(message.end_step());
        case Body::kEndJob:
            return steps_->end_job(message.end_job());
        case Body::kDeadline:
            return steps_->set_deadline(message.deadline());
        case Body::kFreeze:
            return steps_->freeze(message.freeze());
        case Body::kEndKnown:
            return steps_->end_known(wire::decode(message.end_known().key()));
        case Body::kPids:
            return steps_->ask_pids(message.pids());
        case Body::kReboot:
            return reboot(message.reboot());
        case Body::kNotify:
            return steps_->notify(message.notify());
        case Body::kAttachStep:
            return steps_->attach(message.attach_step());
        default:
            return;  // From a newer controller.
    }
}

// Once: told again while the program runs, the machine is already on its way down.
void Agent::reboot(const wire::Reboot& order) {
    if (std::exchange(rebooting_, true)) return;
    os::SpawnRequest request;
    request.path = order.program();
    request.argv = {order.program()};
    request.environment = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                           "SLURMD_NODENAME=" + plan_.name, "SLURM_CONF=" + plan_.config.path};
    const auto pid = os::spawn(request);
    if (!pid) {
        rebooting_ = false;
        return log_.error(fmt::format("RebootProgram: {}", pid.error().message));
    }
    log_.info(fmt::format("rebooting: {} runs as process {}", order.program(), *pid));
    if (auto process = os::open_pidfd(*pid)) reboot_process_ = *std::move(process);
    // Whoever reaps our children reaps it too; here it only matters that it is over.
    reboot_watch_ = loop_.watch(reboot_process_.get(), EPOLLIN, [this](std::uint32_t) {
        log_.info("RebootProgram has ended");
        rebooting_ = false;
        reboot_watch_ = {};
    });
}

void Agent::send_load() {
    wire::AgentToController message;
    message.mutable_load()->set_cpu_load(os::load_average());
    message.mutable_load()->set_free_memory(os::free_memory().value);
    message.mutable_load()->set_problem(problem());
    if (keeper_) {
        for (const model::CardUse& use : keeper_->card_use())
            wire::encode(use, message.mutable_load()->add_card_use());
    }
    link_.send(message);
    // Taken back as soon as it was told: the drain stays, and the same fault is news again.
    if (link_.is_registered() && !std::exchange(fault_, {}).empty()) return send_load();
    load_timer_ = loop_.after(kLoadPeriod, [this] { send_load(); });
}

}  // namespace switchyard::agent
