// steps.cpp: starting stepds, and knowing what became of them.
#include "agent/steps.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "gpu/shares.hpp"
#include "os/files.hpp"
#include "os/machine.hpp"
#include "os/processes.hpp"
#include "stepd/launch.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"
#include "wire/unix_address.hpp"

namespace switchyard::agent {
namespace {

constexpr Millis kCleanPauseMax{50};
constexpr int kBacklog = 16;
constexpr Millis kLookWait{1000};

void encode(const NodeSetup& from, wire::StepdSetup& to) {
    to.set_spool(from.spool);
    to.set_containment(from.containment.kind);
    to.set_place(from.containment.place);
    for (const auto& [controller, folder] : from.containment.folders) {
        wire::KeyValue& entry = *to.add_cgroups();
        entry.set_key(controller);
        entry.set_value(folder);
    }
    for (const model::IndexSet& cpus : from.core_cpus) to.add_core_cpus(to_string(cpus));
    to.set_pretend(from.pretend);
    for (const model::GresInventory& gres : from.gres) wire::encode(gres, to.add_gres());
    to.set_share_folder(from.share_folder);
}

template <class Grants>
void set_gres(std::vector<model::GresGrant>& to, const Grants& from) {
    to.clear();
    for (const wire::GresGrant& each : from) {
        if (auto grant = wire::decode(each)) to.push_back(*std::move(grant));
    }
}

bool has_cards(const std::vector<model::GresGrant>& gres) {
    return std::ranges::any_of(gres, [](const model::GresGrant& each) {
        return !each.shares.empty() || (each.name == "gpu" && !each.devices.empty());
    });
}

}  // namespace

Steps::Steps(io::Loop& loop, NodeSetup setup, const os::Log& log, Send send)
    : loop_(loop),
      setup_(std::move(setup)),
      log_(log),
      send_(std::move(send)),
      spares_(loop),
      scripts_(loop, log),
      journal_(log) {
    scripts_.set_setup(setup_.scripts);
    spares_.set_place(setup_.node, setup_.spool);
    spares_.keep_one_ready();
    walls_ = os::make_containment(setup_.containment,
                                  [this](const StepKey& key) { return owner_of(key); });
    // Without cgroups, what a dead stepd leaves becomes ours and can be found.
    if (setup_.containment.kind == "none") ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    child_watch_ = loop_.on_signal(SIGCHLD, [this] { reap(); });
}

Steps::~Steps() = default;

void Steps::set_setup(NodeSetup setup) {
    setup_ = std::move(setup);
    scripts_.set_setup(setup_.scripts);
}

std::string Steps::socket_path(const StepKey& key) const {
    return setup_.spool + "/" + stepd::socket_name({key, owner_of(key).value_or(0)});
}

std::optional<uid_t> Steps::owner_of(const StepKey& key) const {
    const auto step = steps_.find(key);
    if (step == steps_.end() || step->second.unknown) return std::nullopt;
    return step->second.owner;
}

std::vector<StepKey> Steps::keys() const {
    std::vector<StepKey> keys;
    for (const auto& [key, step] : steps_) {
        // One that waits for its Prolog is launched again by whoever does not find it here.
        if (!step.unknown && !step.preparing) keys.push_back(key);
    }
    return keys;
}

void Steps::recover() {
    journal_.open(setup_.spool + "/journal", setup_.scripts.cluster, loop_.now());
    scripts_.forget_before(os::booted_at());
    if (const auto names = os::list_folder(setup_.spool)) {
        for (const std::string& name : *names) {
            const auto socket = stepd::parse_socket_name(name);
            if (!socket) continue;
            Step& step = steps_[socket->key];
            step.owner = socket->owner;
            step.found = true;
            attach(socket->key);
        }
    }
    std::set<JobKey> found;
    for (const auto& [key, step] : steps_) found.insert({key.job, key.attempt});
    journal_.end_all_but(found, loop_.now());
    // A cgroup whose step nobody knows: the spool was emptied by hand. Nothing to report, only to
    // end.
    for (const StepKey& key : walls_->existing()) {
        if (steps_.contains(key)) continue;
        log_.info(fmt::format("{}: processes of an unknown step are ended", model::to_string(key)));
        steps_[key].unknown = true;
        clean(key);
    }
    if (!steps_.empty()) log_.info(fmt::format("found {} steps of an earlier run", steps_.size()));
}

// --- starting
// ----------------------------------------------------------------------------------------

void Steps::launch(wire::LaunchStep&& launch) {
    const StepKey key = wire::decode(launch.key());
    if (const auto it = steps_.find(key); it != steps_.end()) {
        if (it->second.unknown) {
            it->second.next = std::make_unique<wire::LaunchStep>(std::move(launch));
            return;
        }
        // Told twice. If it has ended, the report may have been lost on its way.
        if (it->second.report) send_report(it->second);
        return;
    }
    if (began_before(key, launch)) return;
    Step& step = steps_[key];
    step.owner = launch.uid();
    const JobKey job{key.job, key.attempt};
    if (scripts_.is_prepared(job)) return start(key, std::move(launch));
    step.preparing = std::make_unique<wire::LaunchStep>(std::move(launch));
    const wire::LaunchStep& held = *step.preparing;
    prepare({job, held.job(), held.uid(), held.gid()});
}

void Steps::start(const StepKey& key, wire::LaunchStep&& launch) {
    if (const Status started = spawn(key, std::move(launch)); !started) {
        log_.error(fmt::format("{}: {}", model::to_string(key), started.error().message));
        wire::StepReport report;
        wire::encode_key(key, report.mutable_key());
        report.set_launch_error(started.error().message);
        report.set_job_clean(true);
        return finish(key, std::move(report));
    }
    wire::AgentToController message;
    wire::encode_key(key, message.mutable_step_started()->mutable_key());
    send_(message);
}

Result<io::Fd> Steps::listen_for(const StepKey& key) {
    const std::string path = socket_path(key);
    io::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener) return os::errno_failure("socket");
    SY_TRY(const wire::UnixAddress address, wire::unix_address(path));
    ::unlink(path.c_str());
    const mode_t before = ::umask(077);
    const bool bound = ::bind(listener.get(), address.get(), address.size) == 0 &&
                       ::listen(listener.get(), kBacklog) == 0;
    ::umask(before);
    if (!bound) return os::errno_failure(path);
    return listener;
}

Status Steps::spawn(const StepKey& key, wire::LaunchStep&& launch) {
    SY_TRY(const io::Fd listener, listen_for(key));
    if (key.step == kBatchStep) {
        const wire::ArrayPlace& array = launch.job().array();
        journal_.begin({key.job, key.attempt},
                       {.submitted = Instant{Millis{launch.job().submitted()}},
                        .began = loop_.now(),
                        .array = JobId{array.array_id()},
                        .element = array.element()});
    }
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0)
        return os::errno_failure("socketpair");
    io::Fd ours(pair[0]);
    const io::Fd theirs(pair[1]);
    Step& step = steps_[key];
    SY_TRY(step.pid, spares_.start(key, theirs, listener));
    step.channel = wire::Channel::adopt(loop_, std::move(ours), wire::kAgentToStepd, handlers(key));
    step.ready = true;
    set_gres(step.gres, launch.job_grant().gres());
    if (static_cast<int>(launch.node_index()) < launch.layout().nodes_size()) {
        const auto& ranks = launch.layout().nodes(static_cast<int>(launch.node_index())).tasks();
        step.first_task = ranks.empty() ? 0 : ranks[0];
    }

    wire::AgentToStepd message;
    *message.mutable_launch() = std::move(launch);
    encode(setup_, *message.mutable_setup());
    for (const auto& [device, memory] : turns_.paths()) {
        wire::CardTurns& turns = *message.mutable_setup()->add_turns();
        turns.set_device(device);
        turns.set_memory(memory);
    }
    step.channel->send(message.SerializeAsString());
    for (const std::string& frame : std::exchange(step.waiting, {})) step.channel->send(frame);
    if (cards_.look && has_cards(step.gres)) cards_.look({});
    return {};
}

// --- listening
// ---------------------------------------------------------------------------------------

wire::Channel::Handlers Steps::handlers(const StepKey& key) {
    wire::Channel::Handlers handlers;
    handlers.on_frame = [this, key](std::string_view frame) {
        wire::StepdToAgent message;
        if (message.ParseFromArray(frame.data(), static_cast<int>(frame.size())))
            on_message(key, message);
    };
    handlers.on_close = [this, key](const Error&) { on_closed(key); };
    return handlers;
}

// Connects to a stepd by its socket, asks how it stands, and passes on what was said meanwhile.
void Steps::attach(const StepKey& key) {
    Step& step = steps_[key];
    wire::Channel::Handlers with_status = handlers(key);
    with_status.on_ready = [this, key] {
        Step& found = steps_[key];
        found.ready = true;
        wire::AgentToStepd ask;
        ask.mutable_status();
        found.channel->send(ask.SerializeAsString());
        for (const std::string& frame : std::exchange(found.waiting, {}))
            found.channel->send(frame);
    };
    step.ready = false;
    step.channel = wire::Channel::connect_unix(loop_, socket_path(key), wire::kAgentToStepd,
                                               std::move(with_status));
}

void Steps::on_message(const StepKey& key, const wire::StepdToAgent& message) {
    if (message.has_pids()) {
        const auto it = gathering_.find(message.pids().id());
        if (it == gathering_.end()) return;
        it->second.answer->mutable_pids()->MergeFrom(message.pids().pids());
        it->second.answer->mutable_usage()->MergeFrom(message.pids().usage());
        if (--it->second.missing == 0) finish_pids(it->first);
        return;
    }
    const auto it = steps_.find(key);
    if (it == steps_.end() || !message.has_status()) return;
    it->second.found = false;
    it->second.pid = static_cast<pid_t>(message.status().pid());
    if (message.status().has_usage()) {
        it->second.usage = std::make_unique<wire::StepUsage>(message.status().usage());
    }
    if (key.step == kBatchStep && (message.status().ending() || message.status().has_report()))
        release_end({key.job, key.attempt});
    set_gres(it->second.gres, message.status().job_gres());
    const bool is_new = !it->second.report && !it->second.last;
    if (message.status().has_report() && is_new) finish(key, message.status().report());
}

// The stepd is gone, or only this connection. Whoever lives answers on the socket; nobody does for
// the dead.
void Steps::on_closed(const StepKey& key) {
    const auto it = steps_.find(key);
    if (it == steps_.end()) return;
    const bool was_ready = it->second.ready;
    it->second.channel.reset();
    it->second.ready = false;
    if (it->second.report || it->second.last) return;
    if (was_ready) return attach(key);
    log_.error(fmt::format("{}: its stepd is gone without a report", model::to_string(key)));
    clean(key);
}

// --- what a dead stepd left
// ----------------------------------------------------------------------------

void Steps::clean(const StepKey& key) {
    const auto it = steps_.find(key);
    if (it == steps_.end()) return;
    Step& step = it->second;
    step.found = false;
    expect_end(key, Seconds{0});
    if (setup_.containment.kind == "none") kill_adopted();
    std::optional<bool> job_gone;
    if (walls_->pids(key).empty()) {
        if (const auto removed = walls_->remove(key)) job_gone = *removed;
    } else {
        walls_->kill_all(key);
    }
    if (!job_gone && step.left_at && *step.left_at <= loop_.now()) {
        log_.error(fmt::format("{}: what cannot be killed is left", model::to_string(key)));
        job_gone = true;
    }
    if (!job_gone) {
        step.cleaning = loop_.after(step.pause, [this, key] { clean(key); });
        step.pause = std::min(step.pause * 2, kCleanPauseMax);
        return;
    }
    if (key.step == kBatchStep) {
        (void)os::remove_tree(
            fmt::format("{}/job{}.{}", setup_.spool, key.job.value, key.attempt.value));
    }
    if (step.unknown) {
        const std::unique_ptr<wire::LaunchStep> next = std::move(step.next);
        steps_.erase(it);
        check_job({key.job, key.attempt});
        if (next) launch(std::move(*next));
        return;
    }
    wire::StepReport report;
    wire::encode_key(key, report.mutable_key());
    report.set_lost(true);
    if (step.usage) *report.mutable_usage() = *step.usage;
    report.set_job_clean(*job_gone);
    finish(key, std::move(report));
}

// Children of ours that are no stepds were children of stepds that died: they belong to steps that
// are over.
void Steps::kill_adopted() {
    const std::vector<os::Process> all = os::list_processes();
    for (const os::Process& process : all) {
        if (process.parent != ::getpid() || process.state == 'Z') continue;
        const bool is_ours = spares_.owns(process.pid) || scripts_.owns(process.pid) ||
                             std::ranges::any_of(steps_, [&](const auto& each) {
                                 return each.second.pid == process.pid;
                             });
        if (is_ours || (cards_.is_kept && cards_.is_kept(process.pid))) continue;
        for (const pid_t pid : os::descendants(all, process.pid)) ::kill(pid, SIGKILL);
        ::kill(process.pid, SIGKILL);
    }
}

void Steps::reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) scripts_.on_exit(pid, status);
}

// --- ends
// ----------------------------------------------------------------------------------------------

void Steps::finish(const StepKey& key, wire::StepReport report) {
    Step& step = steps_[key];
    step.last = std::make_unique<wire::StepReport>(std::move(report));
    const bool awaits_look =
        has_cards(step.gres) && cards_.look && cards_.look([this, key] { tell_end(key); });
    if (!awaits_look) return tell_end(key);
    // A sick driver may take its time; nobody waits for it for long.
    step.patience = loop_.after(kLookWait, [this, key] { tell_end(key); });
}

void Steps::tell_end(const StepKey& key) {
    const auto found = steps_.find(key);
    if (found == steps_.end() || !found->second.last) return;
    Step& step = found->second;
    step.patience = {};
    wire::StepReport report = std::move(*std::exchange(step.last, nullptr));
    const JobKey job{key.job, key.attempt};
    report.set_job_clean(report.job_clean() && !is_alive(job, &key) && !scripts_.any());
    if (const auto more = more_usage(key)) report.mutable_usage()->MergeFrom(*more);
    note_end(key, report);
    step.report = std::make_unique<wire::StepReport>(std::move(report));
    if (!setup_.share_folder.empty() && !is_alive(job, nullptr))
        gpu::remove_files_of(setup_.share_folder, job.first, job.second);
    send_report(step);
    check_job(job);
}

void Steps::send_report(const Step& step) {
    wire::AgentToController message;
    *message.mutable_step_ended() = *step.report;
    send_(message);
}

void Steps::report_again() {
    for (const auto& [key, step] : steps_) {
        if (step.report) send_report(step);
    }
}

bool Steps::is_alive(const JobKey& job, const StepKey* except) const {
    for (auto it = steps_.lower_bound({job.first, job.second, StepId{0}}); it != steps_.end();
         ++it) {
        if (it->first.job != job.first || it->first.attempt != job.second) return false;
        if (!it->second.report && (except == nullptr || it->first != *except)) return true;
    }
    return false;
}

void Steps::check_job(const JobKey& job) {
    const auto ending = ending_jobs_.find(job);
    if (ending == ending_jobs_.end() || ending->second.cleaning) return;
    if (is_alive(job, nullptr) || scripts_.is_preparing(job)) return;
    const wire::EndJob& order = *ending->second.order;
    ending->second.cleaning =
        order.has_record() &&
        scripts_.clean_up({job, order.record(), order.uid(), order.gid()},
                          [this, job](const Status& status) {
                              if (!status) say_script_failed(job, true, status.error());
                              say_clean(job);
                          });
    if (!ending->second.cleaning) say_clean(job);
}

void Steps::say_clean(const JobKey& job) {
    ending_jobs_.erase(job);
    scripts_.forget(job);
    wire::AgentToController message;
    message.mutable_job_clean()->set_job(job.first.value);
    message.mutable_job_clean()->set_attempt(job.second.value);
    send_(message);
}

void Steps::end_known(const StepKey& key) {
    const auto it = steps_.find(key);
    // Only what has ended can be forgotten; anything else is a late message of an earlier life.
    if (it == steps_.end() || !it->second.report) return;
    if (it->second.channel && it->second.ready) {
        wire::AgentToStepd message;
        wire::encode_key(key, message.mutable_end_known()->mutable_key());
        it->second.channel->send(message.SerializeAsString());
        it->second.channel->close();
    }
    ::unlink(socket_path(key).c_str());
    steps_.erase(it);
}

}  // namespace switchyard::agent
