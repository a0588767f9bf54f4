// occurrence.cpp: see occurrence.hpp.

#include "core/cluster/reservations/occurrence.hpp"

namespace switchyard::core {
namespace {

using model::Reservation;
using model::ReservationFlag;

// Occurrences that are seen ahead. What does not fit between two of them fits between none.
constexpr int kOccurrencesSeen = 8;
constexpr int kHoursSeen = 48;

}  // namespace

std::vector<Occurrence> occurrences_of(const Reservation& reservation, Instant now) {
    if (reservation.end <= now && !reservation.recurs()) return {};
    if (reservation.floats) return {{now, reservation.end}};
    std::vector<Occurrence> all{{reservation.start, reservation.end}};
    const int seen = reservation.is(ReservationFlag::Hourly) ? kHoursSeen : kOccurrencesSeen;
    for (int more = 1; reservation.recurs() && more < seen; ++more) {
        const Instant start = model::next_occurrence(all.back().start, reservation.flags);
        all.push_back({start, start + (reservation.end - reservation.start)});
    }
    return all;
}

void move_on(Reservation& reservation, Instant now) {
    const auto length = reservation.end - reservation.start;
    do {
        reservation.start = model::next_occurrence(reservation.start, reservation.flags);
    } while (reservation.start + length <= now);
    reservation.end = reservation.start + length;
    reservation.idle_since.reset();
}

}  // namespace switchyard::core
