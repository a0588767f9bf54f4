// Goal: a lock keeps out whoever comes second, and nobody because of a dead daemon's unborn child.
#include "io/file_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "io/fd.hpp"

namespace switchyard::io {
namespace {

class FileLock : public testing::Test {
  protected:
    FileLock() { made_ = Fd(::mkstemp(path_.data())); }
    ~FileLock() override { ::unlink(path_.c_str()); }

    Fd open() const { return Fd(::open(path_.c_str(), O_RDWR | O_CLOEXEC)); }
    void name_holder(pid_t pid) const {
        const std::string text = std::to_string(pid) + "\n";
        ASSERT_EQ(::pwrite(made_.get(), text.data(), text.size(), 0),
                  static_cast<ssize_t>(text.size()));
    }

  private:
    std::string path_ = "/tmp/sy-lock-XXXXXX";
    Fd made_;
};

TEST_F(FileLock, ALivingHolderKeepsOthersOut) {
    const Fd first = open(), second = open();
    EXPECT_TRUE(lock_alone(first.get()));
    name_holder(::getpid());
    EXPECT_FALSE(lock_alone(second.get()));
}

TEST_F(FileLock, TheLockOfADeadHolderIsWaitedForUntilItsChildLetsGo) {
    int go[2];
    ASSERT_EQ(::pipe2(go, O_CLOEXEC), 0);
    Fd inherited = open();
    ASSERT_EQ(::flock(inherited.get(), LOCK_EX), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        // As between fork and exec, for as long as somebody has our other end.
        ::close(go[1]);
        char byte = 0;
        [[maybe_unused]] const ssize_t got = ::read(go[0], &byte, 1);
        ::usleep(50000);
        ::_exit(0);
    }
    const pid_t dead = ::fork();
    if (dead == 0) ::_exit(0);
    siginfo_t gone{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(dead), &gone, WEXITED | WNOWAIT), 0);
    name_holder(dead);  // Dead and not yet waited for.
    inherited.reset();
    ::close(go[0]);
    ::close(go[1]);
    const Fd next = open();
    EXPECT_TRUE(lock_alone(next.get()));
    ::waitpid(dead, nullptr, 0);
    ::waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace switchyard::io
