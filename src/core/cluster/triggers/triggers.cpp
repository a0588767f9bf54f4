// triggers.cpp: triggers are set, cleared, and run.

#include "core/cluster/triggers/triggers.hpp"

#include <algorithm>
#include <utility>

#include "base/limits.hpp"
#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
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

Status Triggers::check(const model::Trigger& trigger, const Caller& caller) const {
    const auto wrong = [](Errc code) { return fail(code, std::string(errc_text(code))); };
    // Where the controller cannot become others it runs programs of its own user only.
    if (!world_.rights_of(caller).may_set_triggers(world_.settings.users_set_triggers))
        return wrong(Errc::AccessDenied);
    if (trigger.program.empty() || !trigger.program.starts_with('/'))
        return fail(Errc::InvalidArgument, "the program of a trigger is an absolute path");
    SY_CHECK(check_texts(trigger));
    SY_CHECK(check_values(trigger));
    const bool of_job = trigger.resource == model::TriggerResource::Job;
    if (is_of_job_alone(trigger.type) && !of_job)
        return fail(Errc::InvalidArgument, "this event is one of a job");
    if (of_job) {
        const Job* job = world_.find_job(trigger.job);
        if (job == nullptr) return wrong(Errc::InvalidJobId);
        if (model::is_finished(*job)) return wrong(Errc::JobFinished);
    }
    for (const std::string& node : trigger.nodes) {
        if (!world_.node_index(node)) return wrong(Errc::InvalidNodeName);
    }
    const bool known = std::ranges::any_of(
        all_, [&](const auto& entry) { return same_wish(entry.second, trigger); });
    if (known) return wrong(Errc::TriggerExists);
    if (all_.size() >= limits::kTriggersMax) return wrong(Errc::Busy);
    return {};
}

void Triggers::load(std::vector<model::Trigger> records, std::uint32_t last_id) {
    last_id_ = last_id;
    for (model::Trigger& trigger : records) add(std::move(trigger));
}

void Triggers::add(model::Trigger trigger) {
    last_id_ = std::max(last_id_, trigger.id);
    const std::uint32_t id = trigger.id;
    all_.insert_or_assign(id, std::move(trigger));
}

void Triggers::on(const event::SetTriggers& event) {
    std::vector<model::Trigger> fresh = event.triggers;
    for (model::Trigger& trigger : fresh) {
        trigger.uid = event.caller.uid;
        trigger.gid = event.caller.gid;
        trigger.user = event.caller_name;
        trigger.fired.reset();
        const Status fine = check(trigger, event.caller);
        if (!fine) return world_.reply(event.token, reply::Failed{fine.error(), {}});
    }
    if (all_.empty()) look_at_all_nodes();
    for (model::Trigger& trigger : fresh) {
        trigger.id = last_id_ + 1;
        world_.changes.triggers.insert(trigger.id);
        add(trigger);
        retime(trigger);
    }
    world_.reply(event.token, reply::Done{{}, static_cast<std::uint32_t>(fresh.size()), {}});
}

void Triggers::on(const event::ClearTriggers& event) {
    std::vector<std::uint32_t> gone;
    bool forbidden = false;
    for (const auto& [id, trigger] : all_) {
        if (event.id && *event.id != id) continue;
        if (event.uid && *event.uid != trigger.uid) continue;
        if (event.job &&
            (trigger.resource != model::TriggerResource::Job || *event.job != trigger.job))
            continue;
        const bool may = world_.rights_of(event.caller).may_clear_trigger(trigger.uid);
        forbidden |= !may;
        if (may) gone.push_back(id);
    }
    for (const std::uint32_t id : gone) drop(id);
    if (gone.empty())
        return world_.refuse(event.token, forbidden ? Errc::AccessDenied : Errc::NoSuchTrigger);
    world_.reply(event.token, reply::Done{{}, static_cast<std::uint32_t>(gone.size()), {}});
}

void Triggers::drop(std::uint32_t id) {
    all_.erase(id);
    happened_.erase(id);
    idle_told_.erase(id);
    world_.timers.set({TimerKey::Kind::Trigger, id}, std::nullopt);
    world_.changes.triggers.insert(id);
}

void Triggers::run(model::Trigger& trigger, std::string argument) {
    world_.emit(effect::RunTrigger{trigger, std::move(argument)});
    const std::uint32_t id = trigger.id;
    if (!trigger.permanent) return drop(id);
    trigger.fired.reset();
    world_.changes.triggers.insert(id);
    retime(trigger);
}

void Triggers::fire() {
    const auto happened = std::exchange(happened_, {});
    for (const auto& [id, names] : happened) {
        const auto found = all_.find(id);
        if (found == all_.end() || found->second.fired) continue;
        model::Trigger& trigger = found->second;
        std::string argument = model::compress_hostlist({names.begin(), names.end()});
        if (trigger.offset <= Seconds{0} || trigger.type == model::TriggerType::Idle) {
            run(trigger, std::move(argument));
            continue;
        }
        trigger.fired = model::TriggerFired{world_.now + trigger.offset, std::move(argument)};
        world_.changes.triggers.insert(id);
        retime(trigger);
    }
}

void Triggers::timer(std::uint32_t id) {
    const auto found = all_.find(id);
    if (found == all_.end()) return;
    model::Trigger& trigger = found->second;
    if (const auto at = due(trigger); at && *at > world_.now) return retime(trigger);
    if (trigger.fired) return run(trigger, trigger.fired->argument);
    if (trigger.type == model::TriggerType::Time) {
        // Once in the life of a job: a permanent one has nothing further to wait for.
        run(trigger, std::to_string(trigger.job.value));
        if (all_.contains(id)) drop(id);
        return;
    }
    const std::vector<std::string> idle = idle_nodes(trigger);
    if (idle.empty()) return;
    idle_told_[id].insert(idle.begin(), idle.end());
    run(trigger, model::compress_hostlist(idle));
}

}  // namespace switchyard::core
