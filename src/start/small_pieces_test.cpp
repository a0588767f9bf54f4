// Goal: memory that waits to be asked for again is nobody's at that time, and not much. Method:
// this program has the operators of small_pieces.cpp, as switchyard has.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <random>
#include <thread>
#include <vector>

namespace {

struct Held {
    unsigned char* piece;
    std::size_t bytes;
    unsigned char mark;
};

Held hold(std::size_t bytes, unsigned char mark) {
    auto* const piece = static_cast<unsigned char*>(::operator new(bytes));
    std::memset(piece, mark, bytes);
    return {piece, bytes, mark};
}

bool is_intact(const Held& held) {
    return std::all_of(held.piece, held.piece + held.bytes,
                       [&](unsigned char byte) { return byte == held.mark; });
}

TEST(SmallPieces, OneThatWasGivenBackIsTheNextToBeGivenOut) {
    void* const first = ::operator new(100);
    ::operator delete(first);
    void* const second = ::operator new(99);
    EXPECT_EQ(second, first);
    ::operator delete(second, std::size_t{99});
    void* const third = ::operator new(100);
    EXPECT_EQ(third, first);
    ::operator delete(third);
}

TEST(SmallPieces, NoTwoOverlapWhateverTheirSizesAndTheOrderOfTheirEnds) {
    std::mt19937 random(20'261'115);
    std::vector<Held> held;
    for (int i = 0; i < 200'000; ++i) {
        if (held.size() < 2000 || random() % 2 == 0) {
            held.push_back(hold(random() % 1500, static_cast<unsigned char>(random())));
            ASSERT_EQ(reinterpret_cast<std::uintptr_t>(held.back().piece) % 16, 0u);
            continue;
        }
        std::swap(held[random() % held.size()], held.back());
        ASSERT_TRUE(is_intact(held.back())) << held.back().bytes << " bytes";
        if (random() % 2 == 0)
            ::operator delete(held.back().piece);
        else
            ::operator delete(held.back().piece, held.back().bytes);
        held.pop_back();
    }
    for (const Held& each : held) {
        EXPECT_TRUE(is_intact(each));
        ::operator delete(each.piece);
    }
}

TEST(SmallPieces, OneThreadMayFreeWhatAnotherAskedFor) {
    std::vector<Held> held;
    for (std::size_t i = 0; i < 5000; ++i)
        held.push_back(hold(i % 1000, static_cast<unsigned char>(i)));
    std::thread([&] {
        for (const Held& each : held) {
            EXPECT_TRUE(is_intact(each));
            ::operator delete(each.piece);
        }
        for (Held& each : held) each = hold(each.bytes, each.mark);
    }).join();
    for (const Held& each : held) {
        EXPECT_TRUE(is_intact(each));
        ::operator delete(each.piece);
    }
}

TEST(SmallPieces, AThreadLeavesNothingBehind) {
    constexpr std::size_t kThreads = 100, kPieces = 20, kBytes = 500, kLeftMax = 64u << 10;
    const auto live_and_end = [] {
        std::vector<void*> pieces(kPieces);
        for (void*& piece : pieces) piece = ::operator new(kBytes);
        for (void* piece : pieces) ::operator delete(piece);
    };
    std::thread(live_and_end).join();
    const std::size_t before = ::mallinfo2().uordblks;
    for (std::size_t i = 0; i < kThreads; ++i) std::thread(live_and_end).join();
    EXPECT_LE(::mallinfo2().uordblks, before + kLeftMax);
}

// As with the operator of the library, which they stand for: the nothrow form, and with it a stable
// sort, goes on with less.
TEST(SmallPieces, MoreThanThereIsIsRefusedAndNotTheEnd) {
    const volatile std::size_t too_much = std::size_t{1} << 62;
    EXPECT_THROW((void)::operator new(too_much), std::bad_alloc);
    EXPECT_EQ(::operator new(too_much, std::nothrow), nullptr);
}

TEST(SmallPieces, AHandlerIsAskedForRoomFirst) {
    static int asked;
    asked = 0;
    const std::new_handler before = std::set_new_handler([] {
        if (++asked == 2) std::set_new_handler(nullptr);
    });
    const volatile std::size_t too_much = std::size_t{1} << 62;
    EXPECT_THROW((void)::operator new(too_much), std::bad_alloc);
    std::set_new_handler(before);
    EXPECT_EQ(asked, 2);
}

TEST(SmallPieces, WhatWaitsIsLittle) {
    constexpr std::size_t kBytes = 200, kCount = 100'000, kWaitsMax = 64u << 10;
    std::vector<void*> pieces(kCount);
    const std::size_t before = ::mallinfo2().uordblks;
    for (void*& piece : pieces) piece = ::operator new(kBytes);
    EXPECT_GE(::mallinfo2().uordblks, before + kCount * kBytes);
    for (void* piece : pieces) ::operator delete(piece);
    EXPECT_LE(::mallinfo2().uordblks, before + kWaitsMax);
}

}  // namespace
