// calendar.cpp: reservations in time: the windows that the scheduler sees, what nodes show, and
// what happens when one begins, ends, comes again or stands idle.

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "core/cluster/cluster_impl.hpp"
#include "model/licenses.hpp"

namespace switchyard::core {
namespace {

using model::Reservation;
using model::ReservationFlag;

// Occurrences that are seen ahead. What does not fit between two of them fits between none.
constexpr int kOccurrencesSeen = 8;
constexpr int kHoursSeen = 48;

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

// What is left of it, from now on.
std::vector<Occurrence> Cluster::Impl::occurrences_of(const Reservation& reservation) const {
    if (reservation.end <= now_ && !reservation.recurs()) return {};
    if (reservation.floats) return {{now_, reservation.end}};
    std::vector<Occurrence> all{{reservation.start, reservation.end}};
    const int seen = reservation.is(ReservationFlag::Hourly) ? kHoursSeen : kOccurrencesSeen;
    for (int more = 1; reservation.recurs() && more < seen; ++more) {
        const Instant start = model::next_occurrence(all.back().start, reservation.flags);
        all.push_back({start, start + (reservation.end - reservation.start)});
    }
    return all;
}

// To the occurrence after the present one.
void Cluster::Impl::move_on(Reservation& reservation) const {
    const auto length = reservation.end - reservation.start;
    do {
        reservation.start = model::next_occurrence(reservation.start, reservation.flags);
    } while (reservation.start + length <= now_);
    reservation.end = reservation.start + length;
    reservation.idle_since.reset();
}

// All that is derived from the reservations, anew. Whoever calls it looks at the jobs.
void Cluster::Impl::derive_calendar() {
    keep_to_nodes();
    set_windows();
    mark_nodes();
    planning_.windows_changed();
    magnets_.clear();
    for (const auto& [name, reservation] : calendar_) {
        if (reservation.is(ReservationFlag::Magnetic) && reservation.is_active(now_))
            magnets_.emplace(reservation.id, reservation);
    }
}

// The same, and the jobs that they concern are looked at again: those that name one, and those that
// one has begun or ceased to draw.
void Cluster::Impl::rebuild_calendar() {
    const auto before = magnets_;
    derive_calendar();
    std::set<JobId> concerned = naming_;
    const auto compare = [&](const auto& these, const auto& those) {
        for (const auto& [id, magnet] : these) {
            if (!those.contains(id)) concerned.merge(jobs_drawn_by(magnet));
        }
    };
    compare(before, magnets_);
    compare(magnets_, before);
    planning_.reasons.look_at_foremost();
    for (const JobId id : concerned) {
        Job* job = find_job(id);
        if (job != nullptr && std::holds_alternative<model::Pending>(job->phase)) review(*job);
    }
    call_license_line();
}

// Users whose jobs it might draw; none: anybody's.
std::optional<std::set<std::uint32_t>> Cluster::Impl::users_drawn_by(
    const Reservation& magnet) const {
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
std::set<JobId> Cluster::Impl::jobs_drawn_by(const Reservation& magnet) const {
    std::set<JobId> found;
    const auto add = [&](const std::vector<JobId>& ids) {
        for (const JobId id : ids) {
            const auto behind = hets_.upper_bound(id);
            const bool component =
                behind != hets_.begin() && std::prev(behind)->second.contains(id);
            const JobId first = component ? std::prev(behind)->first : id;
            if (planning_.queue.contains(first) || license_places_.contains(first))
                found.insert(first);
        }
    };
    if (const auto uids = users_drawn_by(magnet)) {
        for (const std::uint32_t uid : *uids) add(jobs_.of_user(uid));
    } else {
        add(jobs_.ids());
    }
    return found;
}

// What placement, plan and licenses know of them; and when each changes next.
void Cluster::Impl::set_windows() {
    sched::Windows windows = pool_.no_windows();
    std::vector<sched::LicenseLedger::Kept> kept;
    for (const auto& [name, reservation] : calendar_) {
        windows.set_rights(reservation.id,
                           {.confined = !reservation.is(ReservationFlag::Flex) &&
                                        !reservation.is(ReservationFlag::AnyNodes),
                            .comes_first = reservation.is(ReservationFlag::Maint) ||
                                           reservation.is(ReservationFlag::Overlap)});
        const auto licenses = model::parse_licenses(reservation.licenses);
        for (const Occurrence& occurrence : occurrences_of(reservation)) {
            sched::Window window{.owner = reservation.id,
                                 .from = occurrence.start,
                                 .until = occurrence.end,
                                 .guests = reservation.max_start_delay.value_or(Seconds{0}),
                                 .maint = reservation.is(ReservationFlag::Maint)};
            // Whoever is gone before it could begin does not meet it.
            if (reservation.floats) window.guests = std::max(window.guests, *reservation.floats);
            for (const std::string& node : reservation.nodes) {
                const NodeIndex index = *node_index(node);
                if (!reservation.has_whole_nodes()) window.cores = reservation.cores.at(node);
                windows.add(index, pool_.node(index).places, window);
            }
            if (licenses && !licenses->empty())
                kept.push_back({reservation.id, occurrence.start, occurrence.end, *licenses});
        }
        retime(reservation);
    }
    pool_.set_windows(std::move(windows));
    licenses_.set_kept(std::move(kept));
}

// Names of nodes that are no longer configured leave; all nodes, or those of a partition, are what
// they are now. A reservation of nodes that has none left goes.
void Cluster::Impl::keep_to_nodes() {
    std::vector<std::string> empty;
    for (auto& [name, reservation] : calendar_) {
        const std::vector<std::string> before = reservation.nodes;
        const bool follows =
            reservation.has_whole_nodes() && (reservation.is(ReservationFlag::PartNodes) ||
                                              reservation.is(ReservationFlag::AllNodes));
        if (auto names = all_nodes(reservation); follows && names)
            reservation.nodes = *std::move(names);
        std::erase_if(reservation.nodes,
                      [&](const std::string& node) { return !node_index(node); });
        if (reservation.nodes == before) continue;
        std::erase_if(reservation.cores, [&](const auto& each) { return !node_index(each.first); });
        changes_.reservations.insert(name);
        if (reservation.nodes.empty()) empty.push_back(name);
    }
    for (const std::string& name : empty) remove_reservation(name);
}

// Whose each node is now; maintenance before others.
void Cluster::Impl::mark_nodes() {
    for (model::Node& node : nodes_) {
        node.reservation.clear();
        node.maint = false;
    }
    for (const auto& [name, reservation] : calendar_) {
        if (!reservation.is_active(now_)) continue;
        const bool maint = reservation.is(ReservationFlag::Maint);
        for (const std::string& each : reservation.nodes) {
            model::Node& node = nodes_[*node_index(each)];
            if (!node.reservation.empty() && (node.maint || !maint)) continue;
            node.reservation = name;
            node.maint = maint;
        }
    }
}

void Cluster::Impl::retime(const Reservation& reservation) {
    std::optional<Instant> next = reservation.end;
    if (!reservation.floats && now_ < reservation.start) next = reservation.start;
    // Idle counts from its start on, to which it may have been moved since.
    if (reservation.is(ReservationFlag::PurgeComp) && reservation.idle_since &&
        reservation.is_active(now_))
        next = std::min(*next, *reservation.idle_since + reservation.purge_after);
    // It is over, and its last jobs have to leave.
    const auto runs = runs_in_.find(reservation.name);
    const bool in_use = runs != runs_in_.end() && !runs->second.empty();
    if (reservation.end <= now_ && !reservation.recurs() && in_use) next.reset();
    timers_.set({TimerKey::Kind::Reservation, reservation.id}, next);
}

bool Cluster::Impl::is_wanted(const std::string& name) const {
    if (const auto runs = runs_in_.find(name); runs != runs_in_.end() && !runs->second.empty())
        return true;
    return !waiting_for(name).empty();
}

// The jobs that name it and have not begun.
std::vector<JobId> Cluster::Impl::waiting_for(const std::string& reservation) const {
    std::vector<JobId> found;
    for (const JobId id : naming_) {
        const auto glanced = jobs_.glance(id);
        const Job& job = glanced->second;
        std::string list = job.spec->reservation;
        if (std::holds_alternative<model::Pending>(job.phase) && strike_out(list, reservation))
            found.push_back(id);
    }
    return found;
}

// To be called whenever a job is new, or what it asks for has changed.
void Cluster::Impl::index_reservation(const Job& job) {
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
void Cluster::Impl::reservation_timer(std::uint32_t id) {
    const auto found =
        std::ranges::find_if(calendar_, [&](const auto& each) { return each.second.id == id; });
    if (found == calendar_.end()) return;
    Reservation& reservation = found->second;
    const std::string name = found->first;
    const bool purges = reservation.is(ReservationFlag::PurgeComp) && reservation.is_active(now_);
    bool over = reservation.end <= now_;
    if (purges && is_wanted(name)) {
        if (reservation.idle_since) changes_.reservations.insert(name);
        reservation.idle_since.reset();
    } else if (purges && !reservation.idle_since) {
        reservation.idle_since = now_;
        changes_.reservations.insert(name);
    } else if (purges && *reservation.idle_since + reservation.purge_after <= now_) {
        over = true;
    }
    if (over && reservation.recurs()) {
        move_on(reservation);
        changes_.reservations.insert(name);
    } else if (over && runs_in_[name].empty()) {
        remove_reservation(name);
    }
    rebuild_calendar();
}

// The record goes. Jobs that waited for it are held, or wait like others if it was made so.
void Cluster::Impl::remove_reservation(const std::string& name) {
    const auto found = calendar_.find(name);
    const Reservation gone = found->second;
    calendar_.erase(found);
    runs_in_.erase(name);
    changes_.reservations.insert(name);
    timers_.set({TimerKey::Kind::Reservation, gone.id}, std::nullopt);
    const std::vector<JobId> concerned = waiting_for(name);
    for (const JobId id : concerned) {
        Job& job = jobs_.at(id);
        JobSpec spec = *job.spec;
        strike_out(spec.reservation, name);
        replace_spec(job, spec);
        if (!spec.reservation.empty() || gone.is(ReservationFlag::NoHoldJobsAfter)) continue;
        auto& pending = std::get<model::Pending>(job.phase);
        if (pending.hold != model::Hold::None) continue;
        pending.hold = model::Hold::User;
        pending.reason = model::Reason::ReservationDeleted;
        job.priority = 0;
    }
    for (const JobId id : concerned) {
        if (Job* job = find_job(id)) review(*job);
    }
}

// A job has come to run in a reservation, or has left it.
void Cluster::Impl::reservation_used(const std::string& name) {
    const auto found = calendar_.find(name);
    if (found == calendar_.end()) return;
    Reservation& reservation = found->second;
    const bool empty = runs_in_[name].empty();
    if (reservation.end <= now_ && !reservation.recurs() && empty) {
        remove_reservation(name);
        return rebuild_calendar();
    }
    // Before it begins its jobs may run with FLEX, and nobody calls it idle.
    if (!reservation.is(ReservationFlag::PurgeComp) || !reservation.is_active(now_)) return;
    const auto idle = is_wanted(name) ? std::nullopt : std::optional(now_);
    if (idle.has_value() == reservation.idle_since.has_value()) return;
    reservation.idle_since = idle;
    changes_.reservations.insert(name);
    retime(reservation);
}

// Nodes came or went: those that were picked for a reservation may have to be replaced.
void Cluster::Impl::review_calendar() {
    if (!calendar_is_stale_) return;
    calendar_is_stale_ = false;
    bool changed = false;
    for (auto& [name, reservation] : calendar_) {
        if (!replenish(reservation)) continue;
        changes_.reservations.insert(name);
        changed = true;
    }
    if (changed) rebuild_calendar();
}

}  // namespace switchyard::core
