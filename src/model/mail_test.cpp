#include "model/mail.hpp"

#include <gtest/gtest.h>

#include "base/limits.hpp"

namespace switchyard::model {
namespace {

TEST(MailTypes, reads_lists_in_any_case) {
    EXPECT_EQ(*parse_mail_types("BEGIN,END"), 3u);
    EXPECT_EQ(*parse_mail_types("begin, fail"), 5u);
    EXPECT_EQ(*parse_mail_types("ALL"), kMailAll);
    EXPECT_EQ(*parse_mail_types("ALL,TIME_LIMIT_90"), kMailAll | 32u);
    EXPECT_EQ(*parse_mail_types("NONE"), 0u);
    EXPECT_EQ(*parse_mail_types("END,none"), 0u);
    EXPECT_TRUE(has(*parse_mail_types("ARRAY_TASKS"), MailEvent::ArrayTasks));
    for (const char* bad : {"", ",", "BEGIN,", "SOMETIMES", "BEGIN END", "TIME_LIMIT_70"}) {
        EXPECT_FALSE(parse_mail_types(bad)) << bad;
    }
}

TEST(MailTypes, prints_as_scontrol_show_job) {
    EXPECT_EQ(mail_types_to_string(0), "NONE");
    EXPECT_EQ(mail_types_to_string(3), "BEGIN,END");
    EXPECT_EQ(mail_types_to_string(kMailAll), "INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT");
    for (MailTypes types = 0; types < 2048; ++types) {
        EXPECT_EQ(*parse_mail_types(mail_types_to_string(types)), types);
    }
}

TEST(MailAddress, is_one_word_that_is_no_option) {
    for (const char* bad : {"", "-s", "--exec=!id>/tmp/x", "a b", "a\nBcc: b", "a\tb", "a\x7f"})
        EXPECT_FALSE(is_mail_address(bad)) << bad;
    for (const char* good : {"alice", "alice@example.org", "a-b+c@example.org", "a,b"})
        EXPECT_TRUE(is_mail_address(good)) << good;
    EXPECT_FALSE(is_mail_address(std::string(limits::kMailAddressBytesMax + 1, 'a')));
}

}  // namespace
}  // namespace switchyard::model
