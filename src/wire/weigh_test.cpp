// Goal: what a message costs is known before it is decoded. Method: messages of the protocol, their
// bytes counted.
#include "wire/weigh.hpp"

#include <gtest/gtest.h>

#include "base/limits.hpp"
#include "wire/proto/request.pb.h"
#include "wire/user_share.hpp"

namespace switchyard::wire {
namespace {

constexpr std::size_t kPlenty = 1'000'000;

TEST(Weigh, CountsTheFieldsOfAllParts) {
    Request request;
    request.set_id(7);
    for (int i = 0; i < 3; ++i) request.mutable_hold()->add_jobs()->set_job(5);
    // The id, the body, and three jobs with a number each.
    EXPECT_EQ(count_fields(request.SerializeAsString(), kPlenty), 8u);
    EXPECT_EQ(count_fields("", kPlenty), 0u);
}

TEST(Weigh, CountsEmptyPartsWhichCostTwoBytesEach) {
    Request request;
    for (int i = 0; i < 5000; ++i) request.mutable_submit()->add_components();
    const std::string bytes = request.SerializeAsString();
    EXPECT_LT(bytes.size(), 20'000u);
    EXPECT_EQ(count_fields(bytes, kPlenty), 5001u);
    EXPECT_EQ(count_fields(bytes, 100), 100u);
    EXPECT_EQ(count_repeated(bytes, std::array{10u, 50u}), 5000u);
    EXPECT_EQ(count_repeated(bytes, std::array{10u, 51u}), 0u);
    EXPECT_EQ(count_repeated(bytes + bytes, std::array{10u, 50u}), 10'000u) << "both are merged";
}

TEST(Weigh, TakesTextForWhatItIs) {
    Request request;
    request.set_command("squeue --me --long");
    EXPECT_EQ(count_fields(request.SerializeAsString(), kPlenty), 1u);
}

TEST(Weigh, NestsNoDeeperThanItLooks) {
    std::string nested;
    for (int i = 0; i < 1000; ++i) {
        CreateStepRequest outer;
        ASSERT_TRUE(outer.add_more()->ParseFromString(i < 90 ? nested : std::string()));
        nested = outer.SerializeAsString();
    }
    EXPECT_LE(count_fields(nested, kPlenty), 100u);
}

TEST(UserShare, IsTheSameForAllConnectionsOfAUserAndEndsWithThem) {
    UserShares shares;
    const auto first = shares.of(1000);
    EXPECT_EQ(shares.of(1000), first);
    EXPECT_NE(shares.of(1001), first);
    EXPECT_EQ(first->unfinished->what, "unfinished messages of user 1000");
    EXPECT_GT(shares.of(0)->unfinished->bytes_max, limits::kUnfinishedBytesPerUserMax);
}

TEST(UserShare, HoldsBytesUntilNobodyHasThem) {
    UserShares shares;
    const auto share = shares.of(1000);
    auto held = hold_bytes(*share, std::string(limits::kHeldBytesPerUserMax - 10, 'x'));
    ASSERT_TRUE(held);
    const auto more = hold_bytes(*share, std::string(11, 'x'));
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().code, Errc::Busy);
    EXPECT_EQ(more.error().message,
              "the requests under way of user 1000 hold more than 268435456 bytes");
    held->reset();
    EXPECT_EQ(share->held->bytes.load(), 0u);
}

}  // namespace
}  // namespace switchyard::wire
