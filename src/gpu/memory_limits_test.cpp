// Goal: the driver is asked for limits only where it has them, and a limit holds or is an error.
#include "gpu/memory_limits.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "gpu/fake_world.hpp"

namespace switchyard::gpu {
namespace {

const std::string kCards =
    "card NAME=H200;UUID=GPU-a;MINOR=0;MEMORY=8192\n"
    "card NAME=H200;UUID=GPU-b;MINOR=1;MEMORY=8192\n";

TEST(MemoryLimits, a_limit_is_kept_by_card_and_cgroup) {
    const FakeWorld world(kCards + "limits\n");
    const auto limits = MemoryLimits::open(kFakeNvml);
    ASSERT_TRUE(limits);
    EXPECT_EQ(*limits->get("GPU-a", "/cg/job_7_0"), ~0ull);
    EXPECT_TRUE(limits->set("GPU-a", "/cg/job_7_0", 2ull << 30));
    EXPECT_TRUE(limits->set("GPU-a", "/cg/job_7_0", 1ull << 30));  // By another step: again.
    EXPECT_EQ(*limits->get("GPU-a", "/cg/job_7_0"), 1ull << 30);
    EXPECT_EQ(*limits->get("GPU-b", "/cg/job_7_0"), ~0ull);
    EXPECT_EQ(*limits->get("GPU-a", "/cg/job_8_0"), ~0ull);
}

TEST(MemoryLimits, what_cannot_be_limited_is_an_error_that_names_it) {
    const FakeWorld world(kCards);
    const auto limits = MemoryLimits::open(kFakeNvml);
    ASSERT_TRUE(limits);
    const Status refused = limits->set("GPU-a", "/cg/job_7_0", 1);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("GPU-a for /cg/job_7_0"), std::string::npos);
    EXPECT_FALSE(limits->set("GPU-x", "/cg/job_7_0", 1));
    EXPECT_FALSE(MemoryLimits::open("libno-such-library.so.1"));
}

TEST(MemoryLimits, a_node_uses_them_for_all_its_cards_or_none) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    FakeWorld world(kCards + "limits\n");
    const auto cards = world.open()->cards();
    ASSERT_TRUE(cards);
    EXPECT_TRUE(limits_all(*cards, "/cg", kFakeNvml));
    EXPECT_FALSE(limits_all(*cards, "", kFakeNvml));  // No cgroup v2.
    EXPECT_FALSE(limits_all({}, "/cg", kFakeNvml));
    world.say(kCards);
    EXPECT_FALSE(limits_all(*cards, "/cg", kFakeNvml));
    world.say(kCards + "limits\nslice 1 1g.1gb MIG-1 1000 1 0\n");
    EXPECT_FALSE(limits_all(*world.open()->cards(), "/cg", kFakeNvml));
}

}  // namespace
}  // namespace switchyard::gpu
