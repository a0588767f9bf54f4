// triggers.cpp: `strigger`: triggers are set, cleared, and run.

#include <algorithm>
#include <utility>

#include "base/limits.hpp"
#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/cluster_impl.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core {
namespace {

bool is_of_job_alone(model::TriggerType type) {
    return type == model::TriggerType::Time || type == model::TriggerType::Fini;
}

// The same wish of the same user.
bool same_wish(const model::Trigger& a, const model::Trigger& b) {
    return a.resource == b.resource && a.type == b.type && a.job == b.job && a.nodes == b.nodes &&
           a.offset == b.offset && a.uid == b.uid && a.program == b.program;
}

}  // namespace

Status Cluster::Impl::check_trigger(const model::Trigger& trigger, const Caller& caller) const {
    const auto wrong = [](Errc code) { return fail(code, std::string(errc_text(code))); };
    // Where the controller cannot become others it runs programs of its own user only.
    if (!settings_.users_set_triggers && !is_operator(caller)) return wrong(Errc::AccessDenied);
    if (trigger.program.empty() || !trigger.program.starts_with('/'))
        return fail(Errc::InvalidArgument, "the program of a trigger is an absolute path");
    SY_CHECK(check_texts(trigger));
    SY_CHECK(check_values(trigger));
    const bool of_job = trigger.resource == model::TriggerResource::Job;
    if (is_of_job_alone(trigger.type) && !of_job)
        return fail(Errc::InvalidArgument, "this event is one of a job");
    if (of_job) {
        const Job* job = find_job(trigger.job);
        if (job == nullptr) return wrong(Errc::InvalidJobId);
        if (model::is_finished(*job)) return wrong(Errc::JobFinished);
    }
    for (const std::string& node : trigger.nodes) {
        if (!node_index(node)) return wrong(Errc::InvalidNodeName);
    }
    const bool known = std::ranges::any_of(
        triggers_.all, [&](const auto& entry) { return same_wish(entry.second, trigger); });
    if (known) return wrong(Errc::TriggerExists);
    if (triggers_.all.size() >= limits::kTriggersMax) return wrong(Errc::Busy);
    return {};
}

void Cluster::Impl::on(const event::SetTriggers& event) {
    std::vector<model::Trigger> fresh = event.triggers;
    for (model::Trigger& trigger : fresh) {
        trigger.uid = event.caller.uid;
        trigger.gid = event.caller.gid;
        trigger.user = event.caller_name;
        trigger.fired.reset();
        const Status fine = check_trigger(trigger, event.caller);
        if (!fine) return reply(event.token, reply::Failed{fine.error(), {}});
    }
    if (triggers_.all.empty()) look_at_all_nodes();
    for (model::Trigger& trigger : fresh) {
        trigger.id = triggers_.last_id + 1;
        changes_.triggers.insert(trigger.id);
        triggers_.add(trigger);
        retime_trigger(trigger);
    }
    reply(event.token, reply::Done{{}, static_cast<std::uint32_t>(fresh.size()), {}});
}

void Cluster::Impl::on(const event::ClearTriggers& event) {
    std::vector<std::uint32_t> gone;
    bool forbidden = false;
    for (const auto& [id, trigger] : triggers_.all) {
        if (event.id && *event.id != id) continue;
        if (event.uid && *event.uid != trigger.uid) continue;
        if (event.job &&
            (trigger.resource != model::TriggerResource::Job || *event.job != trigger.job))
            continue;
        const bool may = event.caller.uid == 0 || event.caller.uid == trigger.uid;
        forbidden |= !may;
        if (may) gone.push_back(id);
    }
    for (const std::uint32_t id : gone) drop_trigger(id);
    if (gone.empty())
        return refuse(event.token, forbidden ? Errc::AccessDenied : Errc::NoSuchTrigger);
    reply(event.token, reply::Done{{}, static_cast<std::uint32_t>(gone.size()), {}});
}

void Cluster::Impl::drop_trigger(std::uint32_t id) {
    triggers_.remove(id);
    timers_.set({TimerKey::Kind::Trigger, id}, std::nullopt);
    changes_.triggers.insert(id);
}

void Cluster::Impl::run_trigger(model::Trigger& trigger, std::string argument) {
    emit(effect::RunTrigger{trigger, std::move(argument)});
    const std::uint32_t id = trigger.id;
    if (!trigger.permanent) return drop_trigger(id);
    trigger.fired.reset();
    changes_.triggers.insert(id);
    retime_trigger(trigger);
}

// What happened in this step: run at once, or when the offset has passed.
void Cluster::Impl::fire_triggers() {
    const auto happened = std::exchange(triggers_.happened, {});
    for (const auto& [id, names] : happened) {
        const auto found = triggers_.all.find(id);
        if (found == triggers_.all.end() || found->second.fired) continue;
        model::Trigger& trigger = found->second;
        std::string argument = model::compress_hostlist({names.begin(), names.end()});
        if (trigger.offset <= Seconds{0} || trigger.type == model::TriggerType::Idle) {
            run_trigger(trigger, std::move(argument));
            continue;
        }
        trigger.fired = model::TriggerFired{now_ + trigger.offset, std::move(argument)};
        changes_.triggers.insert(id);
        retime_trigger(trigger);
    }
}

void Cluster::Impl::trigger_timer(std::uint32_t id) {
    const auto found = triggers_.all.find(id);
    if (found == triggers_.all.end()) return;
    model::Trigger& trigger = found->second;
    if (const auto due = trigger_due(trigger); due && *due > now_) return retime_trigger(trigger);
    if (trigger.fired) return run_trigger(trigger, trigger.fired->argument);
    if (trigger.type == model::TriggerType::Time) {
        // Once in the life of a job: a permanent one has nothing further to wait for.
        run_trigger(trigger, std::to_string(trigger.job.value));
        if (triggers_.all.contains(id)) drop_trigger(id);
        return;
    }
    const std::vector<std::string> idle = idle_nodes(trigger);
    if (idle.empty()) return;
    triggers_.idle_told[id].insert(idle.begin(), idle.end());
    run_trigger(trigger, model::compress_hostlist(idle));
}

}  // namespace switchyard::core
