// steps_orders.cpp: orders of the controller, passed on to the stepds they are meant for.
#include <fmt/format.h>
#include <signal.h>

#include "agent/steps.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::agent {
namespace {

constexpr Millis kPidsWait{2000};
constexpr Millis kScriptEndsWithin{1000};

// So many shares of one card, as a part of it.
double part_of_card(const std::vector<model::GresInventory>& all, const model::GresGrant& grant,
                    std::uint64_t amount) {
    for (const model::GresInventory& entry : all) {
        if (entry.name != grant.name || entry.type != grant.type || entry.per_device() == 0)
            continue;
        return static_cast<double>(amount) / static_cast<double>(entry.per_device());
    }
    return 1;
}

}  // namespace

void Steps::for_each(JobId job, Attempt attempt, const std::function<void(const StepKey&)>& call) {
    std::vector<StepKey> found;
    for (auto it = steps_.lower_bound({job, attempt, StepId{0}}); it != steps_.end(); ++it) {
        if (it->first.job != job || it->first.attempt != attempt) break;
        if (!it->second.report) found.push_back(it->first);
    }
    for (const StepKey& key : found) call(key);
}

void Steps::send_to(const StepKey& key, const wire::AgentToStepd& order) {
    const auto it = steps_.find(key);
    if (it == steps_.end() || it->second.report) return;
    if (it->second.preparing && order.has_end()) {
        if (!order.end().announce()) abandon(key);
        return;
    }
    if (order.has_end() && !order.end().announce()) expect_end(key, Seconds{order.end().grace()});
    std::string frame = order.SerializeAsString();
    if (it->second.ready) {
        it->second.channel->send(frame);
    } else {
        it->second.waiting.push_back(std::move(frame));
    }
}

void Steps::signal(const wire::SignalSteps& order) {
    wire::AgentToStepd message;
    *message.mutable_signal() = order;
    for_each(JobId{order.job()}, Attempt{order.attempt()}, [&](const StepKey& key) {
        const bool is_batch = key.step == kBatchStep;
        const bool meant = order.has_step() ? key.step.value == order.step()
                           : is_batch       ? order.batch_shell()
                                            : order.steps();
        if (meant) send_to(key, message);
    });
}

void Steps::end_step(const wire::EndStep& order) {
    wire::AgentToStepd message;
    *message.mutable_end() = order;
    send_to(wire::decode(order.key()), message);
}

void Steps::attach(const wire::AttachStep& order) {
    wire::AgentToStepd message;
    *message.mutable_attach_step() = order;
    send_to(wire::decode(order.key()), message);
}

void Steps::notify(const wire::NotifyJob& order) {
    wire::AgentToStepd message;
    *message.mutable_notify() = order;
    send_to({JobId{order.job()}, Attempt{order.attempt()}, kBatchStep}, message);
}

void Steps::end_job(const wire::EndJob& order) {
    const JobKey job{JobId{order.job()}, Attempt{order.attempt()}};
    ending_jobs_[job].order = std::make_unique<wire::EndJob>(order);
    const auto batch = steps_.find({job.first, job.second, kBatchStep});
    const bool has_script = batch != steps_.end() && !batch->second.report;
    // The steps say why they end, so that their sruns can; then the script is ended, so that it
    // does not go on when they do; then they are.
    const bool in_turn = has_script && order.grace() > 0;
    for_each(job.first, job.second, [&](const StepKey& key) {
        if (key.step != kBatchStep) order_end(key, order, in_turn);
    });
    if (has_script) order_end(batch->first, order, false);
    if (in_turn) {
        HeldEnd& held = held_ends_[job];
        held.order = std::make_unique<wire::EndJob>(order);
        held.patience = loop_.after(kScriptEndsWithin, [this, job] { release_end(job); });
    } else {
        held_ends_.erase(job);
    }
    // What is not here is clean already.
    check_job(job);
}

void Steps::order_end(const StepKey& key, const wire::EndJob& order, bool announce) {
    wire::AgentToStepd message;
    wire::encode_key(key, message.mutable_end()->mutable_key());
    message.mutable_end()->set_cause(order.cause());
    message.mutable_end()->set_grace(order.grace());
    message.mutable_end()->set_announce(announce);
    send_to(key, message);
}

// The script is ending or over: now its steps.
void Steps::release_end(const JobKey& job) {
    const auto held = held_ends_.extract(job);
    if (held.empty()) return;
    for_each(job.first, job.second, [&](const StepKey& key) {
        if (key.step != kBatchStep) order_end(key, *held.mapped().order, false);
    });
}

// --- the site's own programs
// ------------------------------------------------------------------------

void Steps::prepare(const wire::PrepareJob& order) {
    const JobKey job{JobId{order.job()}, Attempt{order.attempt()}};
    if (scripts_.is_prepared(job)) return;
    prepare({job, order.record(), order.uid(), order.gid()});
}

void Steps::prepare(const ScriptJob& job) {
    if (scripts_.is_preparing(job.key)) return;
    scripts_.prepare(job,
                     [this, key = job.key](const Status& status) { on_prepared(key, status); });
}

void Steps::on_prepared(const JobKey& job, const Status& status) {
    if (!status) say_script_failed(job, false, status.error());
    for_each(job.first, job.second, [&](const StepKey& key) {
        const std::unique_ptr<wire::LaunchStep> held = std::move(steps_[key].preparing);
        if (!held) return;
        if (status) return start(key, std::move(*held));
        wire::StepReport report;
        wire::encode_key(key, report.mutable_key());
        report.set_launch_error("Prolog error");
        finish(key, std::move(report));
    });
    check_job(job);
}

// The step is ended before its Prolog was over.
void Steps::abandon(const StepKey& key) {
    steps_[key].preparing.reset();
    wire::StepReport report;
    wire::encode_key(key, report.mutable_key());
    report.mutable_exit()->set_signal(SIGTERM);
    report.set_launch_error("ended before it began");
    finish(key, std::move(report));
}

void Steps::say_script_failed(const JobKey& job, bool epilog, const Error& why) {
    wire::AgentToController message;
    wire::ScriptFailed& failed = *message.mutable_script_failed();
    failed.set_job(job.first.value);
    failed.set_attempt(job.second.value);
    failed.set_epilog(epilog);
    failed.set_why(why.message);
    send_(message);
}

void Steps::set_deadline(const wire::SetDeadline& order) {
    wire::AgentToStepd message;
    *message.mutable_deadline() = order;
    for_each(JobId{order.job()}, Attempt{order.attempt()},
             [&](const StepKey& key) { send_to(key, message); });
}

void Steps::freeze(const wire::Freeze& order) {
    wire::AgentToStepd message;
    *message.mutable_freeze() = order;
    for_each(JobId{order.job()}, Attempt{order.attempt()},
             [&](const StepKey& key) { send_to(key, message); });
}

bool Steps::recovering() const {
    return std::ranges::any_of(steps_, [](const auto& each) { return each.second.found; });
}

bool Steps::all_ended() const {
    return std::ranges::all_of(steps_,
                               [](const auto& each) { return each.second.report != nullptr; });
}

std::map<Steps::JobKey, std::vector<model::GresGrant>> Steps::held_gres() const {
    std::map<JobKey, std::vector<model::GresGrant>> held;
    for (const auto& [key, step] : steps_) {
        if (!step.report && !step.unknown && !step.gres.empty())
            held[{key.job, key.attempt}] = step.gres;
    }
    return held;
}

std::vector<StepCards> Steps::steps_with_cards() const {
    std::vector<StepCards> found;
    for (const auto& [key, step] : steps_) {
        if (step.report || step.unknown) continue;
        StepCards cards{key, {}, false, {}, step.first_task};
        for (const model::GresGrant& gres : step.gres) {
            for (const std::uint32_t device : gres.devices.to_vector()) {
                if (gres.name == "gpu") cards.devices.insert(device);
            }
            for (const auto& share : gres.shares) {
                cards.devices.insert(share.device);
                cards.part[share.device] += part_of_card(setup_.gres, gres, share.amount);
            }
            cards.shared |= !gres.shares.empty();
        }
        if (cards.devices.empty()) continue;
        for (const pid_t pid : walls_->pids(key)) cards.pids.insert(pid);
        found.push_back(std::move(cards));
    }
    return found;
}

std::unique_ptr<wire::StepUsage> Steps::more_usage(const StepKey& key) const {
    const model::StepUsage usage = cards_.usage_of ? cards_.usage_of(key) : model::StepUsage();
    if (usage.empty()) return nullptr;
    auto more = std::make_unique<wire::StepUsage>();
    wire::encode(usage, more.get());
    return more;
}

std::set<pid_t> Steps::pids_of(const JobKey& job) const {
    std::set<pid_t> found;
    for (auto it = steps_.lower_bound({job.first, job.second, StepId{0}}); it != steps_.end();
         ++it) {
        if (it->first.job != job.first || it->first.attempt != job.second) break;
        if (it->second.report) continue;
        for (const pid_t pid : walls_->pids(it->first)) found.insert(pid);
    }
    return found;
}

void Steps::ask_pids(const wire::PidsAsk& ask) {
    PidsGathering& gathering = gathering_[ask.id()];
    gathering.answer = std::make_unique<wire::PidsAnswer>();
    gathering.answer->set_id(ask.id());
    wire::AgentToStepd message;
    *message.mutable_pids() = ask;
    for (const auto& [key, step] : steps_) {
        if (step.report || step.last || !step.ready ||
            (ask.job() != 0 && key.job.value != ask.job()))
            continue;
        ++gathering.missing;
        step.channel->send(message.SerializeAsString());
    }
    if (gathering.missing == 0) return finish_pids(ask.id());
    gathering.timeout = loop_.after(kPidsWait, [this, id = ask.id()] { finish_pids(id); });
}

void Steps::finish_pids(std::uint64_t id) {
    const auto it = gathering_.find(id);
    if (it == gathering_.end()) return;
    wire::AgentToController message;
    *message.mutable_pids() = std::move(*it->second.answer);
    for (wire::StepUsageEntry& entry : *message.mutable_pids()->mutable_usage()) {
        if (const auto more = more_usage(wire::decode(entry.key())))
            entry.mutable_usage()->MergeFrom(*more);
    }
    gathering_.erase(it);
    send_(message);
}

}  // namespace switchyard::agent
