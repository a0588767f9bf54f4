// Goal: what several users have mapped cannot be cut off under any of them, and is found again by
// who comes later, but not what somebody else has given the same name.
#include "os/sealed_memory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace switchyard::os {
namespace {

constexpr std::size_t kBytes = 4096;

std::string own_path(const io::Fd& fd) {
    return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd.get());
}

TEST(SealedMemory, KeepsItsLengthWhoeverHasIt) {
    const auto memory = make_sealed_memory("sy-test-length", kBytes);
    ASSERT_TRUE(memory) << memory.error().message;
    const auto again = open_sealed_memory(own_path(*memory), kBytes);
    ASSERT_TRUE(again) << again.error().message;
    for (const off_t length : {off_t{0}, off_t{100}, off_t{2 * kBytes}})
        EXPECT_NE(::ftruncate(again->get(), length), 0);
    EXPECT_NE(::fcntl(again->get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
    EXPECT_NE(::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, again->get(), 0),
              MAP_FAILED);
}

TEST(SealedMemory, WhatCouldBeCutOffIsNotTaken) {
    const io::Fd open(::memfd_create("sy-test-open", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(::ftruncate(open.get(), kBytes), 0);
    EXPECT_FALSE(open_sealed_memory(own_path(open), kBytes));
    EXPECT_FALSE(find_sealed_memory("sy-test-open", kBytes));
    EXPECT_FALSE(open_sealed_memory("/etc/passwd", kBytes));
}

TEST(SealedMemory, IsFoundByItsNameIfItIsOurs) {
    if (::getuid() != 0) GTEST_SKIP() << "needs root to be two users";
    const std::string name = "sy-test-" + std::to_string(::getpid());
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t other = ::fork();
    if (other == 0) {
        const bool became = ::setresuid(2003, 2003, 2003) == 0;
        const auto theirs = make_sealed_memory(name, kBytes);
        const char ok = became && theirs ? 'y' : 'n';
        [[maybe_unused]] const ssize_t sent = ::write(ready[1], &ok, 1);
        ::pause();
    }
    char ok = 'n';
    ASSERT_EQ(::read(ready[0], &ok, 1), 1);
    ASSERT_EQ(ok, 'y');
    EXPECT_FALSE(find_sealed_memory(name, kBytes));
    {
        const auto ours = make_sealed_memory(name, kBytes);
        ASSERT_TRUE(ours);
        EXPECT_TRUE(find_sealed_memory(name, kBytes));
        EXPECT_FALSE(find_sealed_memory(name, 2 * kBytes));
    }
    EXPECT_FALSE(find_sealed_memory(name, kBytes));
    ::kill(other, SIGKILL);
    ::waitpid(other, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
}

}  // namespace
}  // namespace switchyard::os
