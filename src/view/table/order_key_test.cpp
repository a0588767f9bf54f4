// Goal: keys order as the values behind them. Method: compare pairs.
#include "view/table/order_key.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace switchyard::view {
namespace {

std::string number(std::int64_t value, bool descending = false) {
    OrderKey key;
    key.add_number(value, descending);
    return key.bytes();
}
std::string host(std::string_view name) {
    OrderKey key;
    key.add_host(name, false);
    return key.bytes();
}

TEST(OrderKey, NumbersOrderAcrossTheSign) {
    EXPECT_LT(number(-5), number(-4));
    EXPECT_LT(number(-1), number(0));
    EXPECT_LT(number(255), number(256));
    EXPECT_GT(number(1, true), number(2, true));
}

TEST(OrderKey, NumbersOfAnySizeOrderBothWays) {
    constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
    constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
    std::vector<std::int64_t> numbers{kLeast, kLeast + 1, -1, 0, 1, kMost - 1, kMost};
    for (int bits = 1; bits < 63; ++bits) {
        for (const std::int64_t near : {-1, 0, 1}) {
            numbers.push_back((std::int64_t{1} << bits) + near);
            numbers.push_back(-(std::int64_t{1} << bits) + near);
        }
    }
    for (const std::int64_t a : numbers) {
        for (const std::int64_t b : numbers) {
            EXPECT_EQ(a < b, number(a) < number(b)) << a << " " << b;
            EXPECT_EQ(a < b, number(b, true) < number(a, true)) << a << " " << b;
        }
    }
}

TEST(OrderKey, WhatFollowsANumberDoesNotChangeItsOrder) {
    for (const bool descending : {false, true}) {
        OrderKey shorter, longer;
        shorter.add_number(255, descending);
        shorter.add_number(9, false);
        longer.add_number(256, descending);
        longer.add_number(0, false);
        EXPECT_EQ(shorter.bytes() < longer.bytes(), !descending);
    }
}

TEST(OrderKey, ATextComesBeforeWhatItBegins) {
    OrderKey shorter, longer;
    shorter.add_text("gpu", false);
    shorter.add_number(9, false);
    longer.add_text("gpu2", false);
    longer.add_number(0, false);
    EXPECT_LT(shorter.bytes(), longer.bytes());
}

TEST(OrderKey, HostsOrderByTheirNumbers) {
    EXPECT_LT(host("n2"), host("n10"));
    EXPECT_LT(host("n9"), host("n010"));
    EXPECT_LT(host("a10"), host("b2"));
    EXPECT_LT(host("r1n9"), host("r2n1"));
}

}  // namespace
}  // namespace switchyard::view
