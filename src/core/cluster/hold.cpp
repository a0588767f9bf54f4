// hold.cpp: hold, release, top.

#include <algorithm>

#include "core/cluster/selected.hpp"

namespace switchyard::core {
namespace {

constexpr std::uint32_t kHighest = 0xfffffffe;

}  // namespace

void Cluster::Impl::on(const event::Hold& event) {
    auto done = for_each_selected(event.jobs, event.caller, [&](Job& job) -> std::optional<Errc> {
        auto* pending = std::get_if<model::Pending>(&job.phase);
        if (pending == nullptr) {
            if (model::is_finished(job)) return Errc::JobFinished;
            // What runs is released already.
            return event.hold ? std::optional(Errc::JobNotPending) : std::nullopt;
        }
        if (event.hold) {
            const bool admin = rights_of(event.caller).may_hold_as_admin() && !event.as_user;
            if (pending->hold == model::Hold::Admin && !admin) return std::nullopt;
            pending->hold = admin ? model::Hold::Admin : model::Hold::User;
            pending->reason = model::Reason::None;
            job.priority = 0;
        } else {
            if (pending->hold == model::Hold::None && job.priority != 0) return std::nullopt;
            if (pending->hold != model::Hold::User && !rights_of(event.caller).may_hold_as_admin())
                return Errc::AccessDenied;
            pending->hold = model::Hold::None;
            pending->special_exit = false;
            pending->reason = model::Reason::None;
            const JobId first = job.array ? job.array->array_id : job.id;
            JobSpec spec = *job.spec;
            spec.priority.reset();
            job.priority = base_priority(first, spec, true);
            launcher_.forget_failures(job.id);
        }
        touch(job);
        review(job);
        return std::nullopt;
    });
    reply(event.token, std::move(done));
}

// Ahead of all other pending jobs of the same user. An operator puts it ahead of everybody.
void Cluster::Impl::on(const event::Top& event) {
    auto done = for_each_selected(event.jobs, event.caller, [&](Job& job) -> std::optional<Errc> {
        if (!std::holds_alternative<model::Pending>(job.phase)) {
            return model::is_finished(job) ? Errc::JobFinished : Errc::JobNotPending;
        }
        if (job.priority == 0) return Errc::JobHeld;
        std::uint32_t highest = job.priority;
        const bool everybody = rights_of(event.caller).may_change_all_jobs();
        for (const JobId id : everybody ? jobs_.ids() : jobs_.of_user(job.spec->uid)) {
            if (id == job.id) continue;
            const auto shown = jobs_.glance(id);
            const Job& other = shown->second;
            if (!std::holds_alternative<model::Pending>(other.phase)) continue;
            if (other.priority >= highest) highest = std::min(other.priority, kHighest - 1) + 1;
        }
        job.priority = std::min(highest, kHighest);
        touch(job);
        review(job);
        return std::nullopt;
    });
    reply(event.token, std::move(done));
}

}  // namespace switchyard::core
