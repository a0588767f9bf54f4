#include "model/reservation.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

#include "model/licenses.hpp"
#include "model/time_format.hpp"

namespace switchyard::model {
namespace {

Instant at(std::string_view text) { return *parse_instant(text, Instant{}); }

TEST(Reservation, FlagsAreReadAndShownInSlurmsOrder) {
    Reservation reservation;
    reservation.flags =
        parse_reservation_flags("purge_comp=10,daily,MAINT,ignore_jobs", false)->set;
    reservation.purge_after = Seconds{600};
    EXPECT_EQ(format_flags(reservation), "MAINT,IGNORE_JOBS,DAILY,PURGE_COMP=00:10:00");
    EXPECT_EQ(format_flags(Reservation{}), "");
}

TEST(Reservation, AFlagCanBeTakenBack) {
    const auto change = parse_reservation_flags("maint,-daily,NO_WEEKLY", false);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->set, bit(ReservationFlag::Maint));
    EXPECT_EQ(change->cleared, bit(ReservationFlag::Daily) | bit(ReservationFlag::Weekly));
    EXPECT_EQ(parse_reservation_flags("maint", true)->cleared, bit(ReservationFlag::Maint));
    // The beginning "NO_" is part of this one's name.
    EXPECT_EQ(parse_reservation_flags("no_hold_jobs_after", false)->set,
              bit(ReservationFlag::NoHoldJobsAfter));
}

TEST(Reservation, AWordThatIsNoFlagIsNamed) {
    const auto change = parse_reservation_flags("maint,first_cores", false);
    ASSERT_FALSE(change);
    EXPECT_EQ(change.error().message, "Error parsing flags maint,first_cores.");
    EXPECT_FALSE(parse_reservation_flags("maint=5", false));
    EXPECT_FALSE(parse_reservation_flags("spec_nodes", false));
    EXPECT_FALSE(parse_reservation_flags("purge_comp=never", false));
}

TEST(Reservation, OccurrencesKeepTheirTimeOfDay) {
    const auto flags = [](ReservationFlag flag) { return bit(flag); };
    const Instant friday = at("2026-11-13T08:00:00");
    EXPECT_EQ(next_occurrence(friday, flags(ReservationFlag::Hourly)), at("2026-11-13T09:00:00"));
    EXPECT_EQ(next_occurrence(friday, flags(ReservationFlag::Daily)), at("2026-11-14T08:00:00"));
    EXPECT_EQ(next_occurrence(friday, flags(ReservationFlag::Weekly)), at("2026-11-20T08:00:00"));
    EXPECT_EQ(next_occurrence(friday, flags(ReservationFlag::Weekday)), at("2026-11-16T08:00:00"));
    EXPECT_EQ(next_occurrence(friday, flags(ReservationFlag::Weekend)), at("2026-11-14T08:00:00"));
    EXPECT_EQ(next_occurrence(at("2026-11-15T08:00:00"), flags(ReservationFlag::Weekend)),
              at("2026-11-21T08:00:00"));
}

TEST(Reservation, WhoMayUseItIsByUserOrGroupAndByAccount) {
    Reservation reservation;
    reservation.users = {{"alice", {2001}}};
    EXPECT_TRUE(admits(reservation, 2001, {}, ""));
    EXPECT_FALSE(admits(reservation, 2002, {}, ""));
    reservation.users_denied = true;
    EXPECT_FALSE(admits(reservation, 2001, {}, ""));
    EXPECT_TRUE(admits(reservation, 2002, {}, ""));

    reservation.users.clear();
    reservation.groups = {{"chem", {2003}}};
    EXPECT_TRUE(admits(reservation, 2003, {}, ""));
    EXPECT_TRUE(admits(reservation, 2004, {"bio", "chem"}, ""));
    EXPECT_FALSE(admits(reservation, 2004, {"bio"}, ""));

    reservation.accounts = {"physics"};
    EXPECT_FALSE(admits(reservation, 2003, {}, "biology"));
    EXPECT_TRUE(admits(reservation, 2003, {}, "physics"));
    reservation.accounts_denied = true;
    EXPECT_TRUE(admits(reservation, 2003, {}, "biology"));
}

TEST(Licenses, ListsAreReadAsSlurmDoes) {
    const auto all = parse_licenses("fluent:30,ansys:100,matlab");
    ASSERT_TRUE(all);
    EXPECT_EQ(format_licenses(*all), "fluent:30,ansys:100,matlab:1");
    EXPECT_EQ(format_licenses(*parse_licenses("a,b:2,a:3")), "a:4,b:2");
    EXPECT_TRUE(parse_licenses("")->empty());
    for (const char* bad : {"a:", "a:0", "a:x", ":2", "a,,b", "a:-1", "a:99999999999"})
        EXPECT_FALSE(parse_licenses(bad)) << bad;
}

TEST(Licenses, ARequestIsForAllOrForOne) {
    EXPECT_FALSE(parse_license_request("a:2,b")->any);
    const auto any = parse_license_request("a:2|b");
    ASSERT_TRUE(any);
    EXPECT_TRUE(any->any);
    ASSERT_EQ(any->entries.size(), 2u);
    EXPECT_EQ(any->entries[1].name, "b");
    EXPECT_FALSE(parse_license_request("a,b|c"));
}

}  // namespace
}  // namespace switchyard::model
