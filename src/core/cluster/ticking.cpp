// ticking.cpp: what is due is looked at, once each. A timer that is due again at once, time after
// time, is an error of the core: it is counted (the simulator fails), told to people, and left
// alone for a while, so that everybody else is served.

#include <fmt/format.h>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::on(const event::Tick&) {
    timer_patience_.begin_tick();
    for (std::uint32_t fired = 0; fired < kTimersPerTickMax; ++fired) {
        const auto key = timers_.take_due(now_);
        if (!key) break;
        fire(*key);
        settle();
        if (const auto rest = timer_patience_.looked_at(*key, timers_.is_due(*key, now_)))
            timer_stalls(*key, *rest);
    }
}

void Cluster::Impl::fire(TimerKey key) {
    const JobId id{key.id};
    switch (key.kind) {
        case TimerKey::Kind::Job:
            if (Job* job = find_job(id)) job_timer(*job);
            break;
        case TimerKey::Kind::Node:
            if (key.id < nodes_.size()) node_timer(key.id);
            break;
        case TimerKey::Kind::Owner:
            if (Job* job = find_job(id)) owner_left(*job, std::nullopt);
            break;
        case TimerKey::Kind::StepDoubt:
            if (const Job* job = find_job(id)) job_steps_.give_up_doubted(*job);
            break;
        case TimerKey::Kind::Reboot:
            if (key.id < nodes_.size()) reboot_timer(key.id);
            break;
        case TimerKey::Kind::Trigger:
            triggers_.timer(key.id);
            break;
        case TimerKey::Kind::Reservation:
            calendar_.timer(key.id);
            break;
        case TimerKey::Kind::NodeResume:
            if (key.id < nodes_.size()) resume_timer(key.id);
            break;
        case TimerKey::Kind::Begun:
            begun_.write();
            break;
        case TimerKey::Kind::Restore:
            end_restoring();
            break;
    }
}

void Cluster::Impl::timer_stalls(TimerKey key, Seconds rest) {
    using Kind = TimerKey::Kind;
    timers_.set(key, now_ + rest);
    ++figures_.stalls;
    effect::Stalled stalled;
    const bool of_job =
        key.kind == Kind::Job || key.kind == Kind::Owner || key.kind == Kind::StepDoubt;
    stalled.what =
        fmt::format("the {} timer{} {}", timer_name(key.kind), of_job ? " of job" : "", key.id);
    if (of_job) stalled.job = JobId{key.id};
    stalled.rest = rest;
    emit(std::move(stalled));
}

}  // namespace switchyard::core
