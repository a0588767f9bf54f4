// beneath_test.cpp: folders of a hostile user, with that user at work in them.
#include "os/beneath.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>

#include "base/time.hpp"
#include "os/files.hpp"

namespace switchyard::os {
namespace {

constexpr unsigned kExchange = 1u << 1;  // RENAME_EXCHANGE
const Identity kMallory{54321, 54321, {54321}};

class Folder {
  public:
    Folder() {
        std::string name = "/tmp/sy-beneath-XXXXXX";
        path = ::mkdtemp(name.data());
        ::chmod(path.c_str(), 0711);
    }
    ~Folder() { (void)remove_tree(path); }
    std::string make(const std::string& name, mode_t mode) const {
        std::string folder = path + "/" + name;
        EXPECT_EQ(::mkdir(folder.c_str(), mode), 0);
        return folder;
    }
    std::string path;
};

void make_file(const std::string& path) { EXPECT_TRUE(write_new_file(path, "x", 0644)); }

std::string make_folder_of(const Identity& who, const std::string& path) {
    EXPECT_EQ(::mkdir(path.c_str(), 0755), 0);
    if (::geteuid() == 0) {
        EXPECT_EQ(::chown(path.c_str(), who.uid, who.gid), 0);
    }
    return path;
}

// A process of the user that does something until it is ended.
class Attacker {
  public:
    explicit Attacker(const std::function<void()>& act) : pid_(::fork()) {
        if (pid_ != 0) return;
        if (!become(kMallory)) ::_exit(1);
        for (;;) act();
    }
    ~Attacker() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    Attacker(const Attacker&) = delete;
    Attacker& operator=(const Attacker&) = delete;

  private:
    pid_t pid_;
};

TEST(Beneath, AFolderThatBecomesALinkWhileItIsRemovedLeadsNowhere) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const Folder folder;
    const std::string secret = folder.make("secret", 0700);
    const std::string tree = folder.path + "/job";
    const std::string real = tree + "/d", link = tree + "/l";
    const Attacker attacker([&] {
        ::mkdir(real.c_str(), 0700);
        ::close(::open((real + "/shadow").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        ::unlink(link.c_str());
        if (::symlink(secret.c_str(), link.c_str()) != 0) return;
        for (int i = 0; i < 100; ++i)
            ::syscall(SYS_renameat2, AT_FDCWD, real.c_str(), AT_FDCWD, link.c_str(), kExchange);
    });
    const auto end = std::chrono::steady_clock::now() + Seconds{2};
    while (std::chrono::steady_clock::now() < end) {
        make_file(secret + "/shadow");
        if (!exists(tree)) make_folder_of(kMallory, tree);
        (void)remove_tree(tree);
        ASSERT_TRUE(exists(secret + "/shadow")) << "a file of root was removed through a link";
    }
}

TEST(Beneath, LinksGoAndWhatTheyLeadToStays) {
    const Folder folder;
    make_file(folder.make("elsewhere", 0755) + "/kept");
    const std::string tree = folder.make("tree", 0755);
    ASSERT_EQ(::symlink((folder.path + "/elsewhere").c_str(), (tree + "/link").c_str()), 0);
    make_file(folder.make("tree/below", 0755) + "/file");
    EXPECT_TRUE(remove_tree(tree));
    EXPECT_FALSE(exists(tree));
    EXPECT_TRUE(exists(folder.path + "/elsewhere/kept"));
    EXPECT_TRUE(remove_tree(tree)) << "what is not there is no error";
}

TEST(Beneath, ATreeOfAnyDepthIsRemoved) {
    constexpr int kDepth = 5'000;
    const Folder folder;
    const io::Fd top(::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    io::Fd at(::dup(top.get()));
    for (int i = 0; i < kDepth; ++i) {
        ASSERT_EQ(::mkdirat(at.get(), "d", 0755), 0);
        if (i % 1000 == 0) ::close(::openat(at.get(), "f", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        at.reset(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        ASSERT_TRUE(at);
    }
    const Status removed = remove_in(top.get(), "d");
    EXPECT_TRUE(removed) << removed.error().message;
    EXPECT_FALSE(exists(folder.path + "/d"));
}

TEST(Beneath, AFolderWithManyEntriesIsRemovedInParts) {
    const Folder folder;
    const std::string tree = folder.make("tree", 0755);
    const std::string below = folder.make("tree/below", 0755);
    for (int i = 0; i < 5000; ++i) {
        const std::string name = below + "/" + std::to_string(i);
        ASSERT_EQ(::symlink("x", name.c_str()), 0);
    }
    EXPECT_TRUE(remove_tree(tree));
    EXPECT_FALSE(exists(tree));
}

TEST(Beneath, WhatSomebodyMountedBelowIsNotEntered) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const Folder folder;
    const std::string mounted = folder.make("tree", 0755) + "/mounted";
    ASSERT_EQ(::mkdir(mounted.c_str(), 0755), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            ::mount("none", mounted.c_str(), "tmpfs", 0, nullptr) != 0)
            ::_exit(2);
        if (!write_new_file(mounted + "/kept", "x", 0600)) ::_exit(2);
        if (remove_tree(folder.path + "/tree")) ::_exit(3);
        ::_exit(exists(mounted + "/kept") ? 0 : 4);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "cannot mount here";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Beneath, ANewFileIsNeverOneThatIsThere) {
    const Folder folder;
    make_file(folder.path + "/kept");
    ASSERT_EQ(::symlink("kept", (folder.path + "/link").c_str()), 0);
    ASSERT_EQ(::symlink("made", (folder.path + "/dangling").c_str()), 0);
    const auto opened = open_folder(folder.path);
    ASSERT_TRUE(opened);
    const Identity own{::geteuid(), ::getegid(), {}};
    for (const char* name : {"kept", "link", "dangling"})
        EXPECT_FALSE(write_file_in(opened->get(), name, "y", 0600, own)) << name;
    EXPECT_FALSE(exists(folder.path + "/made"));
    EXPECT_EQ(*read_file(folder.path + "/kept"), "x");
    EXPECT_TRUE(write_file_in(opened->get(), "new", "y", 0600, own));
    EXPECT_EQ(*read_file(folder.path + "/new"), "y");
}

TEST(Beneath, AFileForAUserBelongsToThem) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const Folder folder;
    const auto opened = open_folder(folder.path);
    ASSERT_TRUE(opened);
    ASSERT_TRUE(write_file_in(opened->get(), "script", "#!/bin/sh\n", 0700, kMallory));
    struct stat facts{};
    ASSERT_EQ(::lstat((folder.path + "/script").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_uid, kMallory.uid);
    EXPECT_EQ(facts.st_mode & 07777, 0700u);
}

TEST(Beneath, AUsersFolderIsEmptiedWithTheirRightsOnly) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const Folder folder;
    const std::string own = make_folder_of(kMallory, folder.path + "/own");
    make_file(make_folder_of(kMallory, own + "/below") + "/file");
    EXPECT_TRUE(remove_folder_of(kMallory, own, 30));
    EXPECT_FALSE(exists(own));
    // One that they moved there, from a folder that they share with others.
    const std::string second = make_folder_of(kMallory, folder.path + "/second");
    ASSERT_EQ(::mkdir((second + "/alices").c_str(), 0755), 0);
    make_file(second + "/alices/thesis");
    EXPECT_FALSE(remove_folder_of(kMallory, second, 30));
    EXPECT_TRUE(exists(second + "/alices/thesis"));
}

TEST(Beneath, ASpoolCanBeReachedAndNotListed) {
    const Folder folder;
    ASSERT_EQ(::chmod(folder.path.c_str(), 0775), 0);
    if (::geteuid() == 0) {
        ASSERT_EQ(::chown(folder.path.c_str(), kMallory.uid, kMallory.gid), 0);
    }
    EXPECT_TRUE(close_to_others(folder.path));
    struct stat facts{};
    ASSERT_EQ(::stat(folder.path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0711u);
    EXPECT_EQ(facts.st_uid, ::geteuid());
}

}  // namespace
}  // namespace switchyard::os
