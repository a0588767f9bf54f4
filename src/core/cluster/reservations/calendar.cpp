// calendar.cpp: reservations in time: the windows that the scheduler sees, what nodes show, and
// what happens when one begins, ends, comes again or stands idle.

#include "core/cluster/reservations/calendar.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "core/cluster/licenses.hpp"
#include "core/cluster/planning/planning.hpp"
#include "core/cluster/reservations/occurrence.hpp"
#include "model/licenses.hpp"

namespace switchyard::core {
namespace {

using model::Reservation;
using model::ReservationFlag;

// The name is taken out of a list; true if it was there.
bool strike_out(std::string& list, const std::string& name) {
    std::string left;
    bool found = false;
    for (const std::string_view each : split(list, ',')) {
        if (each == name) {
            found = true;
            continue;
        }
        if (!left.empty()) left += ',';
        left += each;
    }
    if (found) list = std::move(left);
    return found;
}

}  // namespace

void Calendar::clear() { runs_in_.clear(); }

void Calendar::observe(const Transition& transition) {
    const Job& job = transition.job;
    switch (transition.cause) {
        case Cause::Submitted:
        case Cause::Split:
            return load(job);
        case Cause::Started:
            nodes_changed();
            return used(model::run_of(job)->reservation);
        case Cause::Left:
            return left(job.id, model::run_of(job)->reservation);
        case Cause::Withdrawn:
        case Cause::Forgotten:
            naming_.erase(job.id);
            return;
        default:
            return;
    }
}

void Calendar::entered(const Job& job) {
    const std::string& name = model::run_of(job)->reservation;
    if (!name.empty()) runs_in_[name].insert(job.id);
}

void Calendar::left(JobId job, const std::string& reservation) {
    if (reservation.empty()) return;
    runs_in_[reservation].erase(job);
    used(reservation);
}

void Calendar::check() const {
    for (const auto& [id, job] : world_.jobs) {
        SY_ASSERT(naming_.contains(id) != job.spec->reservation.empty());
        const auto* completing = std::get_if<model::Completing>(&job.phase);
        const bool pending = std::holds_alternative<model::Pending>(job.phase);
        const bool ended = std::holds_alternative<model::Ended>(job.phase);
        if (pending || ended || (completing != nullptr && completing->epilog)) continue;
        const std::string& name = model::run_of(job)->reservation;
        if (!name.empty()) SY_ASSERT(runs_in_.at(name).contains(id));
    }
}

// All that is derived from the reservations, anew. Whoever calls it looks at the jobs.
void Calendar::derive() {
    keep_to_nodes();
    set_windows();
    mark_nodes();
    world_.agenda.windows_changed();
    magnets_.clear();
    for (const auto& [name, reservation] : all_) {
        if (reservation.is(ReservationFlag::Magnetic) && reservation.is_active(world_.now))
            magnets_.emplace(reservation.id, reservation);
    }
}

// The same, and the jobs that they concern are looked at again: those that name one, and those that
// one has begun or ceased to draw.
void Calendar::rebuild() {
    const auto before = magnets_;
    derive();
    std::set<JobId> concerned = naming_;
    const auto compare = [&](const auto& these, const auto& those) {
        for (const auto& [id, magnet] : these) {
            if (!those.contains(id)) concerned.merge(jobs_drawn_by(magnet));
        }
    };
    compare(before, magnets_);
    compare(magnets_, before);
    for (const JobId id : concerned) world_.agenda.review(id);
    licenses_.call_line();
}

// Users whose jobs it might draw; none: anybody's.
std::optional<std::set<std::uint32_t>> Calendar::users_drawn_by(const Reservation& magnet) const {
    std::set<std::uint32_t> uids;
    const auto add_named = [&](const std::vector<model::NamedUsers>& list) {
        for (const model::NamedUsers& named : list)
            uids.insert(named.uids.begin(), named.uids.end());
    };
    const auto add_from = [&](const auto& index, const std::string& name) {
        if (const auto found = index.find(name); found != index.end())
            uids.insert(found->second.begin(), found->second.end());
    };
    if (!magnet.users.empty() && !magnet.users_denied) {
        add_named(magnet.users);
    } else if (!magnet.accounts.empty() && !magnet.accounts_denied) {
        for (const std::string& account : magnet.accounts) add_from(users_of_account_, account);
    } else if (magnet.users.empty() && !magnet.groups.empty()) {
        add_named(magnet.groups);
        for (const model::NamedUsers& group : magnet.groups) add_from(users_of_group_, group.name);
    } else {
        return std::nullopt;
    }
    return uids;
}

// Jobs that it might draw: of those that stand in line for nodes or licenses, or whose leader does.
std::set<JobId> Calendar::jobs_drawn_by(const Reservation& magnet) const {
    std::set<JobId> found;
    const auto add = [&](const std::vector<JobId>& ids) {
        for (const JobId id : ids) {
            const JobId first = hets_.first_of(id);
            if (planning_.queue.contains(first) || licenses_.waits(first)) found.insert(first);
        }
    };
    if (const auto uids = users_drawn_by(magnet)) {
        for (const std::uint32_t uid : *uids) add(world_.jobs.of_user(uid));
    } else {
        add(world_.jobs.ids());
    }
    return found;
}

void Calendar::set_windows() {
    sched::Windows windows = world_.pool.no_windows();
    std::vector<sched::LicenseLedger::Kept> kept;
    for (const auto& [name, reservation] : all_) {
        windows.set_rights(reservation.id,
                           {.confined = !reservation.is(ReservationFlag::Flex) &&
                                        !reservation.is(ReservationFlag::AnyNodes),
                            .comes_first = reservation.is(ReservationFlag::Maint) ||
                                           reservation.is(ReservationFlag::Overlap)});
        const auto licenses = model::parse_licenses(reservation.licenses);
        for (const Occurrence& occurrence : occurrences_of(reservation, world_.now)) {
            sched::Window window{.owner = reservation.id,
                                 .from = occurrence.start,
                                 .until = occurrence.end,
                                 .guests = reservation.max_start_delay.value_or(Seconds{0}),
                                 .maint = reservation.is(ReservationFlag::Maint)};
            // Whoever is gone before it could begin does not meet it.
            if (reservation.floats) window.guests = std::max(window.guests, *reservation.floats);
            for (const std::string& node : reservation.nodes) {
                const NodeIndex index = *world_.node_index(node);
                if (!reservation.has_whole_nodes()) window.cores = reservation.cores.at(node);
                windows.add(index, world_.pool.node(index).places, window);
            }
            if (licenses && !licenses->empty())
                kept.push_back({reservation.id, occurrence.start, occurrence.end, *licenses});
        }
        retime(reservation);
    }
    world_.pool.set_windows(std::move(windows));
    licenses_.set_kept(std::move(kept));
}

// Names of nodes that are no longer configured leave; all nodes, or those of a partition, are what
// they are now. A reservation of nodes that has none left goes.
void Calendar::keep_to_nodes() {
    std::vector<std::string> empty;
    for (auto& [name, reservation] : all_) {
        const std::vector<std::string> before = reservation.nodes;
        const bool follows =
            reservation.has_whole_nodes() && (reservation.is(ReservationFlag::PartNodes) ||
                                              reservation.is(ReservationFlag::AllNodes));
        if (auto names = nodes_.all_nodes(reservation); follows && names)
            reservation.nodes = *std::move(names);
        std::erase_if(reservation.nodes,
                      [&](const std::string& node) { return !world_.node_index(node); });
        if (reservation.nodes == before) continue;
        std::erase_if(reservation.cores,
                      [&](const auto& each) { return !world_.node_index(each.first); });
        world_.changes.reservations.insert(name);
        if (reservation.nodes.empty()) empty.push_back(name);
    }
    for (const std::string& name : empty) remove_record(name);
}

// Whose each node is now; maintenance before others.
void Calendar::mark_nodes() {
    for (model::Node& node : world_.nodes) {
        node.reservation.clear();
        node.maint = false;
    }
    for (const auto& [name, reservation] : all_) {
        if (!reservation.is_active(world_.now)) continue;
        const bool maint = reservation.is(ReservationFlag::Maint);
        for (const std::string& each : reservation.nodes) {
            model::Node& node = world_.nodes[*world_.node_index(each)];
            if (!node.reservation.empty() && (node.maint || !maint)) continue;
            node.reservation = name;
            node.maint = maint;
        }
    }
}

void Calendar::retime(const Reservation& reservation) {
    std::optional<Instant> next = reservation.end;
    if (!reservation.floats && world_.now < reservation.start) next = reservation.start;
    // Idle counts from its start on, to which it may have been moved since.
    if (reservation.is(ReservationFlag::PurgeComp) && reservation.idle_since &&
        reservation.is_active(world_.now))
        next = std::min(*next, *reservation.idle_since + reservation.purge_after);
    // It is over, and its last jobs have to leave.
    if (reservation.end <= world_.now && !reservation.recurs() && is_in_use(reservation.name))
        next.reset();
    world_.timers.set({TimerKey::Kind::Reservation, reservation.id}, next);
}

bool Calendar::is_in_use(const std::string& name) const {
    const auto runs = runs_in_.find(name);
    return runs != runs_in_.end() && !runs->second.empty();
}

bool Calendar::is_wanted(const std::string& name) const {
    return is_in_use(name) || !waiting_for(name).empty();
}

// The jobs that name it and have not begun.
std::vector<JobId> Calendar::waiting_for(const std::string& reservation) const {
    std::vector<JobId> found;
    for (const JobId id : naming_) {
        const auto glanced = world_.jobs.glance(id);
        const Job& job = glanced->second;
        std::string list = job.spec->reservation;
        if (std::holds_alternative<model::Pending>(job.phase) && strike_out(list, reservation))
            found.push_back(id);
    }
    return found;
}

void Calendar::load(const Job& job) {
    const JobSpec& spec = *job.spec;
    if (!spec.account.empty()) users_of_account_[spec.account].insert(spec.uid);
    if (!spec.group.empty()) users_of_group_[spec.group].insert(spec.uid);
    if (job.spec->reservation.empty()) {
        naming_.erase(job.id);
    } else {
        naming_.insert(job.id);
    }
}

// It begins, ends, or has stood idle for long enough.
void Calendar::timer(std::uint32_t id) {
    const auto found =
        std::ranges::find_if(all_, [&](const auto& each) { return each.second.id == id; });
    if (found == all_.end()) return;
    Reservation& reservation = found->second;
    const std::string name = found->first;
    const bool purges =
        reservation.is(ReservationFlag::PurgeComp) && reservation.is_active(world_.now);
    bool over = reservation.end <= world_.now;
    if (purges && is_wanted(name)) {
        if (reservation.idle_since) world_.changes.reservations.insert(name);
        reservation.idle_since.reset();
    } else if (purges && !reservation.idle_since) {
        reservation.idle_since = world_.now;
        world_.changes.reservations.insert(name);
    } else if (purges && *reservation.idle_since + reservation.purge_after <= world_.now) {
        over = true;
    }
    if (over && reservation.recurs()) {
        move_on(reservation, world_.now);
        world_.changes.reservations.insert(name);
    } else if (over && !is_in_use(name)) {
        remove_record(name);
    }
    rebuild();
}

// The record goes. Jobs that waited for it are held, or wait like others if it was made so.
void Calendar::remove_record(const std::string& name) {
    const auto found = all_.find(name);
    const Reservation gone = found->second;
    all_.erase(found);
    runs_in_.erase(name);
    world_.changes.reservations.insert(name);
    world_.timers.set({TimerKey::Kind::Reservation, gone.id}, std::nullopt);
    const std::vector<JobId> concerned = waiting_for(name);
    for (const JobId id : concerned) {
        Job& job = world_.jobs.at(id);
        JobSpec spec = *job.spec;
        strike_out(spec.reservation, name);
        world_.replace_spec(job, spec);
        load(job);
        if (!spec.reservation.empty() || gone.is(ReservationFlag::NoHoldJobsAfter)) continue;
        auto& pending = std::get<model::Pending>(job.phase);
        if (pending.hold != model::Hold::None) continue;
        pending.hold = model::Hold::User;
        pending.reason = model::Reason::ReservationDeleted;
        job.priority = 0;
    }
    for (const JobId id : concerned) world_.agenda.review(id);
}

void Calendar::used(const std::string& name) {
    const auto found = all_.find(name);
    if (found == all_.end()) return;
    Reservation& reservation = found->second;
    const bool empty = !is_in_use(name);
    if (reservation.end <= world_.now && !reservation.recurs() && empty) {
        remove_record(name);
        return rebuild();
    }
    // Before it begins its jobs may run with FLEX, and nobody calls it idle.
    if (!reservation.is(ReservationFlag::PurgeComp) || !reservation.is_active(world_.now)) return;
    const auto idle = is_wanted(name) ? std::nullopt : std::optional(world_.now);
    if (idle.has_value() == reservation.idle_since.has_value()) return;
    reservation.idle_since = idle;
    world_.changes.reservations.insert(name);
    retime(reservation);
}

void Calendar::review() {
    if (!is_stale_) return;
    is_stale_ = false;
    bool changed = false;
    for (auto& [name, reservation] : all_) {
        if (!nodes_.replenish(reservation)) continue;
        world_.changes.reservations.insert(name);
        changed = true;
    }
    if (changed) rebuild();
}

}  // namespace switchyard::core
