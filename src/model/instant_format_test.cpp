#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <random>

#include "model/time_format.hpp"

namespace switchyard::model {
namespace {

// Local time is the zone of the process: these tests choose one, and put back what was.
class InstantFormat : public testing::Test {
  protected:
    InstantFormat() {
        if (const char* zone = std::getenv("TZ")) before_ = zone;
        use_zone("UTC0");
    }
    ~InstantFormat() override {
        if (before_) {
            ::setenv("TZ", before_->c_str(), 1);
        } else {
            ::unsetenv("TZ");
        }
        ::tzset();
    }
    static void use_zone(const char* zone) {
        ::setenv("TZ", zone, 1);
        ::tzset();
    }

    // 2026-11-15 is a Sunday.
    const Instant now = Instant{Millis{1'794'706'931'250}};  // 2026-11-15T01:42:11.250

    std::string read(std::string_view text) const {
        const auto instant = parse_instant(text, now);
        return instant ? format_instant(*instant) : "error";
    }

  private:
    std::optional<std::string> before_;
};

// Central European rules written out, so that no zone file is needed.
constexpr const char* kBerlin = "CET-1CEST,M3.5.0,M10.5.0/3";

TEST_F(InstantFormat, prints_the_standard_form_in_local_time) {
    EXPECT_EQ(format_instant(now), "2026-11-15T01:42:11");
    EXPECT_EQ(format_instant(now, "standard"), "2026-11-15T01:42:11");
    EXPECT_EQ(format_instant(Instant{}), "1970-01-01T00:00:00");
    EXPECT_EQ(format_instant_millis(now), "2026-11-15T01:42:11.250");
    EXPECT_EQ(format_instant_millis(Instant{Millis{7}}), "1970-01-01T00:00:00.007");
    use_zone(kBerlin);
    EXPECT_EQ(format_instant(now), "2026-11-15T02:42:11");
    EXPECT_EQ(format_instant(from_unix_seconds(1'782'864'000)), "2026-07-01T02:00:00");
}

TEST_F(InstantFormat, prints_any_strftime_pattern) {
    EXPECT_EQ(format_instant(now, "%s"), "1794706931");
    EXPECT_EQ(format_instant(now, "%a %T"), "Sun 01:42:11");
    EXPECT_EQ(format_instant(now, std::string(1000, 'x')), "");  // Longer than any field.
}

TEST_F(InstantFormat, prints_near_days_relative_to_now) {
    const auto relative = [&](int days) {
        return format_instant(now + std::chrono::days{days}, "relative", now);
    };
    EXPECT_EQ(relative(0), "01:42:11");
    EXPECT_EQ(relative(-1), "Ystday 01:42");
    EXPECT_EQ(relative(1), "Tomorr 01:42");
    EXPECT_EQ(relative(3), "Wed 01:42");
    EXPECT_EQ(relative(-3), "12 Nov 01:42");
    EXPECT_EQ(relative(20), "5 Dec 01:42");
    EXPECT_EQ(relative(800), "23 Jan 2029");
    EXPECT_EQ(format_instant(now, "relative"), "2026-11-15T01:42:11");
}

TEST_F(InstantFormat, reads_now_and_offsets_from_it) {
    EXPECT_EQ(*parse_instant("now", now), now);
    EXPECT_EQ(read("now+60"), "2026-11-15T01:43:11");
    EXPECT_EQ(read("now+1hour"), "2026-11-15T02:42:11");
    EXPECT_EQ(read("now + 2 hours"), "2026-11-15T03:42:11");
    EXPECT_EQ(read("NOW-2days"), "2026-11-13T01:42:11");
    EXPECT_EQ(read("now+1week"), "2026-11-22T01:42:11");
    EXPECT_EQ(read("now+5min"), "2026-11-15T01:47:11");
    EXPECT_EQ(read("now+5m"), "2026-11-15T01:47:11");
    EXPECT_EQ(read("now+5seconds"), "2026-11-15T01:42:16");
}

TEST_F(InstantFormat, a_time_of_day_that_has_passed_is_tomorrows) {
    EXPECT_EQ(read("16:00"), "2026-11-15T16:00:00");
    EXPECT_EQ(read("16:00:30"), "2026-11-15T16:00:30");
    EXPECT_EQ(read("01:00"), "2026-11-16T01:00:00");
    EXPECT_EQ(read("1:42:11"), "2026-11-16T01:42:11");
    EXPECT_EQ(read("midnight"), "2026-11-16T00:00:00");
    EXPECT_EQ(read("elevenses"), "2026-11-15T11:00:00");
    EXPECT_EQ(read("noon"), "2026-11-15T12:00:00");
    EXPECT_EQ(read("fika"), "2026-11-15T15:00:00");
    EXPECT_EQ(read("TeaTime"), "2026-11-15T16:00:00");
    EXPECT_EQ(read("4pm"), "2026-11-15T16:00:00");
    EXPECT_EQ(read("4:30 PM"), "2026-11-15T16:30:00");
    EXPECT_EQ(read("12am"), "2026-11-16T00:00:00");
    EXPECT_EQ(read("12pm"), "2026-11-15T12:00:00");
}

TEST_F(InstantFormat, reads_dates_in_every_form) {
    EXPECT_EQ(read("today"), "2026-11-15T00:00:00");
    EXPECT_EQ(read("tomorrow"), "2026-11-16T00:00:00");
    EXPECT_EQ(read("tomorrow 10:00"), "2026-11-16T10:00:00");
    EXPECT_EQ(read("10:00 tomorrow"), "2026-11-16T10:00:00");
    EXPECT_EQ(read("010227"), "2027-01-02T00:00:00");
    EXPECT_EQ(read("01/02/27"), "2027-01-02T00:00:00");
    EXPECT_EQ(read("01.02.27"), "2027-01-02T00:00:00");
    EXPECT_EQ(read("01/02/2027"), "2027-01-02T00:00:00");
    EXPECT_EQ(read("2027-01-02"), "2027-01-02T00:00:00");
    EXPECT_EQ(read("2027-01-02T16:00"), "2027-01-02T16:00:00");
    EXPECT_EQ(read("2010-01-20T12:34:00"), "2010-01-20T12:34:00");
    EXPECT_EQ(read("2027-01-02-16:00"), "2027-01-02T16:00:00");
    EXPECT_EQ(read("1970-01-01-00:00:01"), "1970-01-01T00:00:01");
    EXPECT_EQ(read("2027-01-02 4pm"), "2027-01-02T16:00:00");
    EXPECT_EQ(read("01/02-16:00"), "2027-01-02T16:00:00");
    EXPECT_EQ(read("12/24 midnight"), "2026-12-24T00:00:00");
    EXPECT_EQ(read("teatime 12/24"), "2026-12-24T16:00:00");
    EXPECT_EQ(read("12/24T10:00"), "2026-12-24T10:00:00");
    EXPECT_EQ(read("12/24"), "2026-12-24T00:00:00");
    EXPECT_EQ(read("11/15-01:00"), "2027-11-15T01:00:00");
    EXPECT_EQ(read("02/29/28"), "2028-02-29T00:00:00");
}

TEST_F(InstantFormat, reads_seconds_since_the_epoch) {
    EXPECT_EQ(read("uts1794706931"), "2026-11-15T01:42:11");
    EXPECT_EQ(read("1794706931"), "2026-11-15T01:42:11");
    EXPECT_EQ(read("uts0"), "1970-01-01T00:00:00");
}

TEST_F(InstantFormat, follows_the_zone_over_clock_changes) {
    use_zone(kBerlin);
    const Instant saturday = *parse_instant("2026-10-24T12:00", now);
    const Instant next = *parse_instant("tomorrow 12:00", saturday);
    EXPECT_EQ(next - saturday, std::chrono::hours{25});
}

TEST_F(InstantFormat, refuses_everything_else) {
    for (const char* bad : {"",
                            " ",
                            "never",
                            "now+",
                            "now+x",
                            "now+1fortnight",
                            "now1",
                            "now*2",
                            "now+-1",
                            "25:00",
                            "12:60",
                            "12:00:60",
                            "0pm",
                            "13pm",
                            "4",
                            "123",
                            "12345678901",
                            "2027-13-01",
                            "2027-02-29",
                            "2027-1-2",
                            "02/30",
                            "13/01",
                            "130127",
                            "2027-01-02T",
                            "2027-01-02T25:00",
                            "T16:00",
                            "today tomorrow",
                            "10:00 11:00",
                            "01/02/27 2027-01-02",
                            "now+99999999999999999999",
                            "now+4000000000weeks",
                            "uts",
                            "uts-1",
                            "uts99999999999999999999",
                            "1969-12-31",
                            "12:",
                            ":30",
                            "1:2:3:4",
                            "noon pm",
                            "am",
                            "01/02/03/04",
                            "2027-01-02-",
                            "10000-01-01"}) {
        EXPECT_EQ(read(bad), "error") << bad;
    }
}

TEST_F(InstantFormat, printing_and_reading_are_inverse_seeded) {
    use_zone(kBerlin);
    std::mt19937_64 random(7);
    for (int n = 0; n < 5'000; ++n) {
        const Instant when = from_unix_seconds(static_cast<std::int64_t>(random() % 4'000'000'000));
        const std::string text = format_instant(when);
        // In the hour that comes twice a year the text is the same for two moments.
        ASSERT_EQ(format_instant(*parse_instant(text, now)), text);
    }
}

TEST_F(InstantFormat, survives_any_text_seeded) {
    constexpr std::string_view kCharacters = "0129:/-. Tt+nowapmuts";
    for (std::uint32_t seed = 0; seed < 20'000; ++seed) {
        std::mt19937 random(seed);
        std::string text;
        for (std::uint32_t left = random() % 20; left > 0; --left) {
            text += kCharacters[random() % kCharacters.size()];
        }
        const auto instant = parse_instant(text, now);
        if (instant) {
            EXPECT_FALSE(format_instant(*instant).empty());
        }
    }
}

}  // namespace
}  // namespace switchyard::model
