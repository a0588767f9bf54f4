#include "core/sched/license_ledger.hpp"

#include <gtest/gtest.h>

namespace switchyard::core::sched {
namespace {

Instant at(std::int64_t seconds) { return from_unix_seconds(seconds); }
model::LicenseRequest asks(std::string_view text) { return *model::parse_license_request(text); }

LicenseLedger ledger() {
    LicenseLedger made;
    made.reset(*model::parse_licenses("a:4,b:1"));
    return made;
}

TEST(LicenseLedger, GivesWhatIsFreeAndTakesItBack) {
    LicenseLedger made = ledger();
    made.claim(JobId{1}, {{"a", 3}}, at(100), kNobody);
    EXPECT_FALSE(made.find(asks("a:2"), kNobody, at(0), at(10)));
    EXPECT_TRUE(made.find(asks("a:1,b"), kNobody, at(0), at(10)));
    EXPECT_EQ(made.earliest(asks("a:2"), kNobody, at(0), Seconds{10}), at(100));
    made.release(JobId{1});
    EXPECT_TRUE(made.find(asks("a:4"), kNobody, at(0), at(10)));
    EXPECT_TRUE(made.could_meet(asks("a:4|nosuch")));
    EXPECT_FALSE(made.could_meet(asks("a:5")));
    EXPECT_FALSE(made.could_meet(asks("a,nosuch")));
    EXPECT_FALSE(made.earliest(asks("a:5"), kNobody, at(0), Seconds{10}));
}

// Whoever has not left in time still holds what they hold.
TEST(LicenseLedger, AnOverdueHolderStillCounts) {
    LicenseLedger made = ledger();
    made.claim(JobId{1}, {{"b", 1}}, at(100), kNobody);
    EXPECT_FALSE(made.find(asks("b"), kNobody, at(150), at(160)));
}

TEST(LicenseLedger, OneOfSeveralIsTheFirstThatIsFree) {
    LicenseLedger made = ledger();
    made.claim(JobId{1}, {{"b", 1}}, at(100), kNobody);
    const auto given = made.find(asks("b|a:2"), kNobody, at(0), at(10));
    ASSERT_TRUE(given);
    EXPECT_EQ(*given, (std::vector<model::License>{{"a", 2}}));
}

TEST(LicenseLedger, WhatAReservationKeepsIsForItsOwn) {
    LicenseLedger made = ledger();
    made.set_kept({{.owner = 7, .from = at(100), .until = at(200), .licenses = {{"a", 3}}}});
    EXPECT_TRUE(made.find(asks("a:4"), kNobody, at(0), at(100)));
    EXPECT_FALSE(made.find(asks("a:2"), kNobody, at(0), at(101)));
    EXPECT_EQ(made.earliest(asks("a:2"), kNobody, at(50), Seconds{100}), at(200));
    EXPECT_TRUE(made.find(asks("a:4"), 7, at(100), at(300)));
    // What its own jobs hold is no longer kept back.
    made.claim(JobId{1}, {{"a", 3}}, at(200), 7);
    EXPECT_TRUE(made.find(asks("a:1"), kNobody, at(120), at(130)));
    const auto use = made.use(at(120));
    ASSERT_EQ(use.size(), 2u);
    EXPECT_EQ(use[0], (model::LicenseUse{"a", 4, 3, 3}));
}

}  // namespace
}  // namespace switchyard::core::sched
