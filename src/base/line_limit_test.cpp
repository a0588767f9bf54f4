#include "base/line_limit.hpp"

#include <gtest/gtest.h>

namespace switchyard {
namespace {

TEST(LineLimit, LetsSoManyThroughAMinuteAndCountsTheOthers) {
    LineLimit limit(2);
    const Instant start{Seconds{1000}};
    EXPECT_EQ(limit.admit(start), 0u);
    EXPECT_EQ(limit.admit(start + Seconds{1}), 0u);
    EXPECT_EQ(limit.admit(start + Seconds{2}), std::nullopt);
    EXPECT_EQ(limit.admit(start + Seconds{59}), std::nullopt);
    EXPECT_EQ(limit.admit(start + Seconds{60}), 2u);
    EXPECT_EQ(limit.admit(start + Seconds{61}), 0u);
}

}  // namespace
}  // namespace switchyard
