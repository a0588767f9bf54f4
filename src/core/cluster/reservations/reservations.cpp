// reservations.cpp: scontrol create, update and delete reservation. A change is made on a copy,
// and takes the place of the record only when all of it holds.

#include "core/cluster/reservations/calendar.hpp"

#include <algorithm>
#include <utility>

#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/licenses.hpp"
#include "core/cluster/reservations/occurrence.hpp"
#include "model/licenses.hpp"

namespace switchyard::core {
namespace {

using model::NamedUsers;
using model::NameListChange;
using model::Reservation;
using model::ReservationFlag;
using model::ReservationUpdate;

// How long ago a reservation may have begun when it is made.
constexpr Seconds kPastStartMax{600};

void apply(std::vector<NamedUsers>& list, bool& denied, const NameListChange& change) {
    using Mode = NameListChange::Mode;
    switch (change.mode) {
        case Mode::None:
            return;
        case Mode::Set:
        case Mode::Deny:
            list = change.names;
            denied = change.mode == Mode::Deny && !list.empty();
            return;
        case Mode::Add:
        case Mode::Remove:
            break;
    }
    // Taken from an empty list they are those who are kept out.
    if (list.empty()) denied = change.mode == Mode::Remove;
    const bool joins = (change.mode == Mode::Add) != denied;
    for (const NamedUsers& each : change.names) {
        std::erase_if(list, [&](const NamedUsers& known) { return known.name == each.name; });
        if (joins) list.push_back(each);
    }
    if (list.empty()) denied = false;
}

// Of accounts, QOS and partitions.
void apply(std::vector<std::string>& names, bool& denied, const NameListChange& change) {
    std::vector<NamedUsers> list;
    for (const std::string& name : names) list.push_back({name, {}});
    apply(list, denied, change);
    names.clear();
    for (const NamedUsers& each : list) names.push_back(each.name);
}

bool is_for_nobody(const Reservation& reservation) {
    return reservation.users.empty() && reservation.groups.empty() &&
           reservation.accounts.empty() && reservation.qos.empty() &&
           reservation.allowed_partitions.empty();
}

// Repeating in one way excludes the others.
void apply_flags(Reservation& reservation, const model::FlagChange& change) {
    if ((change.set & model::kRecurring) != 0) reservation.flags &= ~model::kRecurring;
    reservation.flags |= change.set;
    reservation.flags &= ~change.cleared;
    if (change.purge_after) reservation.purge_after = *change.purge_after;
}

Status check_names(const ReservationUpdate& update) {
    for (const NamedUsers& user : update.users.names) {
        if (user.uids.empty()) return fail(Errc::InvalidUserId);
    }
    return {};
}

}  // namespace

void Calendar::load(std::vector<Reservation> records, std::uint32_t next_id) {
    next_id_ = std::max(1u, next_id);
    for (Reservation& reservation : records) {
        next_id_ = std::max(next_id_, reservation.id + 1);
        const std::string name = reservation.name;
        all_.emplace(name, std::move(reservation));
    }
}

const Reservation* Calendar::find(const std::string& name) const {
    const auto found = all_.find(name);
    return found == all_.end() ? nullptr : &found->second;
}

const Reservation* Calendar::find(sched::WindowOwner owner) const {
    for (const auto& [name, reservation] : all_) {
        if (reservation.id == owner) return &reservation;
    }
    return nullptr;
}

Status Calendar::apply_times(Reservation& reservation, const ReservationUpdate& update,
                             bool fresh) const {
    const Seconds length = std::chrono::floor<Seconds>(reservation.end - reservation.start);
    if (fresh && !update.start) return fail(Errc::InvalidTime);
    if (update.start) {
        const bool late = *update.start < world_.now - kPastStartMax;
        if (late && !reservation.is(ReservationFlag::ForceStart)) return fail(Errc::InvalidTime);
        if (!fresh && reservation.is_active(world_.now))
            return fail(Errc::InvalidArgument, "Reservation already started");
        reservation.start = *update.start;
        const bool ends = reservation.end != model::kEndlessReservation;
        if (!fresh && !update.end && !update.duration && ends)
            reservation.end = reservation.start + length;
    }
    if (update.end) {
        reservation.end = *update.end;
    } else if (update.duration) {
        reservation.end = *update.duration == Seconds{0} ? model::kEndlessReservation
                                                         : reservation.start + *update.duration;
    } else if (fresh) {
        return fail(Errc::InvalidTime);
    }
    if (!is_date(reservation.end) || reservation.end <= reservation.start ||
        reservation.end <= world_.now)
        return fail(Errc::InvalidTime);
    reservation.floats.reset();
    if (reservation.is(ReservationFlag::TimeFloat)) {
        if (reservation.recurs()) return fail(Errc::Unsupported);
        reservation.floats = std::chrono::ceil<Seconds>(reservation.start - world_.now);
        if (*reservation.floats <= Seconds{0}) return fail(Errc::InvalidTime);
    }
    return {};
}

// A list of partitions is never emptied: Slurm leaves it, or says that there is no such partition.
Status Calendar::apply_partitions(Reservation& reservation, const NameListChange& change) const {
    if (change.mode == NameListChange::Mode::None || change.names.empty()) return {};
    for (const NamedUsers& each : change.names) {
        if (!world_.partition_index(each.name)) return fail(Errc::InvalidPartition);
    }
    apply(reservation.allowed_partitions, reservation.partitions_denied, change);
    if (reservation.allowed_partitions.empty()) return fail(Errc::InvalidPartition);
    return {};
}

Status Calendar::apply_update(Reservation& reservation, const ReservationUpdate& update,
                              bool fresh) const {
    SY_CHECK(check_names(update));
    const bool floats = (update.flags.set | update.flags.cleared) & bit(ReservationFlag::TimeFloat);
    if (!fresh && floats) return fail(Errc::InvalidTime);
    apply_flags(reservation, update.flags);
    const bool timed = fresh || update.start || update.end || update.duration;
    if (timed) SY_CHECK(apply_times(reservation, update, fresh));
    apply(reservation.users, reservation.users_denied, update.users);
    bool groups_denied = false;
    apply(reservation.groups, groups_denied, update.groups);
    apply(reservation.accounts, reservation.accounts_denied, update.accounts);
    apply(reservation.qos, reservation.qos_denied, update.qos);
    SY_CHECK(apply_partitions(reservation, update.allowed_partitions));
    // Nobody is kept out by a group.
    if (groups_denied) return fail(Errc::InvalidGroupId);
    if (!reservation.users.empty() && !reservation.groups.empty())
        return fail(Errc::UsersAndGroups);
    if (is_for_nobody(reservation)) return fail(Errc::ReservationForNobody);
    // Those that may use it say where its nodes are, too.
    if (fresh && !update.partition && !reservation.allowed_partitions.empty())
        reservation.partition = reservation.allowed_partitions.front();
    if (update.partition) {
        if (!world_.partition_index(*update.partition)) return fail(Errc::InvalidPartition);
        reservation.partition = *update.partition;
    }
    if (update.features) reservation.features = *update.features;
    if (update.comment) reservation.comment = *update.comment;
    if (update.max_start_delay) {
        reservation.max_start_delay = update.max_start_delay;
        if (*reservation.max_start_delay == Seconds{0}) reservation.max_start_delay.reset();
    }
    if (update.licenses) {
        SY_TRY(const auto licenses, model::parse_licenses(*update.licenses));
        if (!licenses_.could_meet({licenses, false})) return fail(Errc::InvalidLicenses);
        reservation.licenses = model::format_licenses(licenses);
    }
    return {};
}

// A name like Slurm's: the first account or user, and the number of the reservation.
std::string Calendar::name_for(const Reservation& reservation) const {
    std::string first = "resv";
    if (!reservation.accounts.empty()) {
        first = reservation.accounts.front();
    } else if (!reservation.users.empty()) {
        first = reservation.users.front().name;
    } else if (!reservation.groups.empty()) {
        first = reservation.groups.front().name;
    }
    return first + "_" + std::to_string(reservation.id);
}

Result<std::string> Calendar::create(const ReservationUpdate& update) {
    if (all_.contains(update.name)) return fail(Errc::DuplicateReservation);
    Reservation reservation;
    reservation.id = next_id_;
    SY_CHECK(apply_update(reservation, update, true));
    reservation.name = update.name.empty() ? name_for(reservation) : update.name;
    if (all_.contains(reservation.name)) return fail(Errc::DuplicateReservation);
    SY_CHECK(nodes_.settle(reservation, update, nullptr));
    ++next_id_;
    world_.changes.next_reservation_id = next_id_;
    const std::string name = reservation.name;
    put(std::move(reservation));
    return name;
}

Status Calendar::change(const ReservationUpdate& update) {
    const auto found = all_.find(update.name);
    if (found == all_.end()) return fail(Errc::InvalidReservation);
    Reservation reservation = found->second;
    if (update.skip) {
        if (!reservation.recurs()) return fail(Errc::ReservationNotSkippable);
        move_on(reservation, world_.now);
    }
    SY_CHECK(apply_update(reservation, update, false));
    SY_CHECK(nodes_.settle(reservation, update, &found->second));
    put(std::move(reservation));
    for (const JobId id : runs_in_[update.name]) world_.agenda.move_end(id);
    return {};
}

Status Calendar::remove(const ReservationUpdate& update) {
    const auto found = all_.find(update.name);
    if (found == all_.end()) return fail(Errc::InvalidReservation);
    if (is_in_use(update.name)) return fail(Errc::ReservationBusy);
    remove_record(update.name);
    rebuild();
    return {};
}

void Calendar::put(Reservation reservation) {
    const bool purges =
        reservation.is(ReservationFlag::PurgeComp) && reservation.is_active(world_.now);
    if (purges && !reservation.idle_since && !is_wanted(reservation.name))
        reservation.idle_since = world_.now;
    world_.changes.reservations.insert(reservation.name);
    all_.insert_or_assign(reservation.name, std::move(reservation));
    rebuild();
}

ReplyBody Calendar::answer(const event::UpdateReservation& event) {
    using Action = ReservationUpdate::Action;
    const ReservationUpdate& update = event.update;
    const Reservation* known = find(update.name);
    const bool own = update.action == Action::Delete && known != nullptr &&
                     known->is(ReservationFlag::UserDelete) &&
                     model::admits(*known, event.caller.uid, event.caller.groups, "");
    const auto refused = [](const Error& error) { return reply::Failed{error, {}}; };
    if (!world_.rights_of(event.caller).may_administer() && !own)
        return refused({Errc::InvalidUserId, std::string(errc_text(Errc::InvalidUserId))});
    if (const Status fine = check_texts(update); !fine) return refused(fine.error());
    if (const Status fine = check_values(update); !fine) return refused(fine.error());
    if (update.action == Action::Create) {
        const auto made = create(update);
        if (!made) return refused(made.error());
        return reply::ReservationMade{*made};
    }
    const Status done = update.action == Action::Delete ? remove(update) : change(update);
    if (!done) return refused(done.error());
    return reply::Done{{}, 1, {}};
}

}  // namespace switchyard::core
