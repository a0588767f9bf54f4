#include "base/log_level.hpp"

#include <gtest/gtest.h>

namespace switchyard {
namespace {

TEST(LogLevel, is_a_word_or_a_number) {
    EXPECT_EQ(parse_log_level("info"), kLogInfo);
    EXPECT_EQ(parse_log_level("Debug3"), 7u);
    EXPECT_EQ(parse_log_level("0"), 0u);
    EXPECT_EQ(parse_log_level("9"), kLogLast);
    for (const char* text : {"", "10", "-1", "loud", "debug6"})
        EXPECT_EQ(parse_log_level(text), std::nullopt) << text;
    for (std::uint32_t level = 0; level <= kLogLast; ++level)
        EXPECT_EQ(parse_log_level(log_level_name(level)), level);
}

}  // namespace
}  // namespace switchyard
