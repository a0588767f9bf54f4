// stepd.cpp: from the launch to running tasks.
#include "stepd/stepd.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "gpu/shares.hpp"
#include "os/files.hpp"
#include "os/machine.hpp"
#include "os/topology.hpp"
#include "pmi/server.hpp"
#include "stepd/gpu_environment.hpp"
#include "stepd/hosts.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::stepd {
namespace {

constexpr std::uint64_t kBytesPerMiB = 1024 * 1024;

std::optional<std::uint64_t> bytes_of(model::MiB memory) {
    if (memory.value == 0) return std::nullopt;
    return memory.value * kBytesPerMiB;
}

}  // namespace

Stepd::Stepd(io::Loop& loop, io::Fd agent, io::Fd listener)
    : loop_(loop),
      agent_(loop, std::move(agent), std::move(listener),
             [this](const wire::AgentToStepd& message) { receive(message); }) {
    child_watch_ = loop_.on_signal(SIGCHLD, [this] { reap(); });
    // An agent that dies before it said what to do leaves nothing to do: the next one will not say
    // it either, even if it has come already.
    agent_.on_first_closed([this] {
        if (stage_ != Stage::Waiting) return;
        agent_.forget();
        loop_.stop();
    });
}

Stepd::~Stepd() = default;

void Stepd::receive(const wire::AgentToStepd& message) {
    using Body = wire::AgentToStepd;
    if (message.body_case() == Body::kLaunch) {
        if (stage_ == Stage::Waiting) start(message);
        return;
    }
    switch (message.body_case()) {
        case Body::kSignal:
            return on_signal_order(message.signal());
        case Body::kEnd:
            if (message.end().announce())
                return announce(static_cast<Cause>(message.end().cause()),
                                message.end().grace() == 0);
            return end(static_cast<Cause>(message.end().cause()), Seconds{message.end().grace()});
        case Body::kDeadline:
            return set_deadline(message.deadline().has_deadline()
                                    ? std::optional(Instant{Millis{message.deadline().deadline()}})
                                    : std::nullopt);
        case Body::kFreeze:
            if (message.freeze().thaw()) return resume();
            return suspend(Seconds{message.freeze().grace()});
        case Body::kEndKnown:
            if (stage_ != Stage::Over) return;
            agent_.forget();
            return loop_.stop();
        case Body::kPids:
            return answer_pids(message.pids());
        case Body::kStatus:
            return send_status();
        case Body::kAttachStep:
            return attach(message.attach_step());
        case Body::kNotify:
            return say(message.notify().text());
        case Body::kLaunch:
        case Body::BODY_NOT_SET:
            return;
    }
}

void Stepd::start(const wire::AgentToStepd& message) {
    auto launch = read_launch(message);
    if (!launch) {
        launch_.key = wire::decode(message.launch().key());
        return fail_launch(launch.error().message);
    }
    launch_ = *std::move(launch);
    stage_ = Stage::Connecting;
    if (const Status ready = prepare(); !ready) return fail_launch(ready.error().message);
    if (launch_.has_srun()) return connect_srun();
    run_tasks();
}

Status Stepd::prepare() {
    walls_ = os::make_containment(launch_.setup.containment,
                                  [this](const StepKey&) { return launch_.who.uid; });
    SY_CHECK(guard_cards());
    SY_CHECK(walls_->create(launch_.key, limits()));
    SY_CHECK(limit_cards(launch_));
    resolve_names();
    return {};
}

// A share that cannot be kept is not given.
Status Stepd::guard_cards() {
    if (!is_guarded(launch_)) return {};
    SY_CHECK(make_guard_files(launch_));
    for (const std::uint32_t card : guarded_cards(launch_)) {
        const auto memory = launch_.setup.turns.find(card);
        if (memory == launch_.setup.turns.end())
            return fail(Errc::NotFound, fmt::format("card {} has no turns", card));
        SY_TRY(auto door,
               TurnsDoor::open(loop_, memory->second,
                               gpu::turns_socket(launch_.setup.share_folder, launch_.key, card),
                               launch_.who));
        turns_.push_back(std::move(door));
    }
    return {};
}

os::StepLimits Stepd::limits() const {
    os::StepLimits limits;
    const model::NodeGrant& own = launch_.here().grant;
    if (launch_.constrain_cores) {
        limits.job_cpus = os::cpus_of_cores(launch_.setup.core_cpus, launch_.job_grant.cores);
        limits.step_cpus = os::cpus_of_cores(launch_.setup.core_cpus, own.cores);
    }
    if (launch_.constrain_memory) {
        limits.job_memory = bytes_of(launch_.job_grant.memory);
        if (!launch_.is_batch()) limits.step_memory = bytes_of(own.memory);
    }
    limits.denied_devices = denied_devices(launch_);
    return limits;
}

void Stepd::resolve_names() {
    if (launch_.hosts.empty()) return;
    const auto present = os::read_file("/etc/hosts");
    const auto text = extended_hosts(present ? *present : "", launch_.hosts, launch_.setup.pretend);
    if (!text) return;
    changed_process_ = true;  // A mount namespace of its own, or part of the way to one.
    const Status mounted = mount_hosts(*text, launch_.setup.spool);
    if (!mounted) {
        log_.info(fmt::format("{}: node names may not resolve inside the job: {}",
                              model::to_string(launch_.key), mounted.error().message));
    }
}

void Stepd::run_tasks() {
    stage_ = Stage::Preparing;
    if (launch_.is_batch()) {
        tasks_.resize(1);
    } else if (const Status ready = prepare_tasks(); !ready) {
        return cannot_start(ready.error().message);
    }
    if (!pmi_) begin_tasks();
}

void Stepd::begin_tasks() {
    stage_ = Stage::Running;
    if (launch_.spec.time_limit && !launch_.spec.time_limit->unlimited) {
        own_deadline_ = os::now() + launch_.spec.time_limit->seconds;
    }
    set_deadline(launch_.deadline);
    watch_usage();
    watch_memory();
    begin_from(0);
}

void Stepd::fail_launch(const std::string& why) {
    log_.error(fmt::format("{}: {}", model::to_string(launch_.key), why));
    launch_error_ = why;
    if (walls_) {
        stage_ = Stage::Emptying;
        return empty_out();
    }
    conclude();
}

void Stepd::say(const std::string& text) { say_raw(os::log_line("error: ", text)); }

void Stepd::say_raw(const std::string& line) {
    if (srun_) srun_->text(line);
    if (messages_) [[maybe_unused]]
        const ssize_t sent = ::write(messages_.get(), line.data(), line.size());
}

}  // namespace switchyard::stepd
