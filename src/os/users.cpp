#include "os/users.hpp"

#include <grp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/assert.hpp"
#include "os/accounts.hpp"

namespace switchyard::os {

Result<User> find_user(uid_t uid) {
    auto user = accounts::user(uid);
    if (!user) return fail(Errc::NotFound, "no account with uid " + std::to_string(uid));
    return *std::move(user);
}

Result<User> find_user(const std::string& name) {
    auto user = accounts::user(name);
    if (!user) return fail(Errc::NotFound, "no account named " + name);
    return *std::move(user);
}

std::string user_name(uid_t uid) {
    const auto user = accounts::user(uid);
    return user ? user->name : std::to_string(uid);
}

std::string group_name(gid_t gid) {
    const auto group = accounts::group(gid);
    return group ? group->name : std::to_string(gid);
}

Result<gid_t> find_group(const std::string& name) {
    const auto group = accounts::group(name);
    if (!group) return fail(Errc::NotFound, "no group named " + name);
    return group->gid;
}

std::vector<gid_t> groups_of(const std::string& user, gid_t primary) {
    return accounts::groups_of(user, primary);
}

ActingAs::ActingAs(const Identity& who) {
    if (::geteuid() != 0 || who.uid == 0) return;
    const int count = ::getgroups(0, nullptr);
    old_groups_.resize(static_cast<std::size_t>(count > 0 ? count : 0));
    if (count > 0 && ::getgroups(count, old_groups_.data()) < 0) {
        ok_ = false;
        return;
    }
    old_gid_ = ::getegid();
    switched_ = true;
    ok_ = ::setgroups(who.groups.size(), who.groups.data()) == 0 && ::setegid(who.gid) == 0 &&
          ::seteuid(who.uid) == 0;
}

ActingAs::~ActingAs() {
    if (!switched_) return;
    const int error = errno;
    // Failing to come back would leave a daemon with a user's rights: a bug, not a situation.
    SY_ASSERT(::seteuid(0) == 0);
    SY_ASSERT(::setegid(old_gid_) == 0);
    SY_ASSERT(::setgroups(old_groups_.size(), old_groups_.data()) == 0);
    errno = error;
}

bool become(const Identity& who) {
    // The raw calls: the library's would signal other threads, of which a fresh child has none.
    if (::geteuid() != 0) return ::geteuid() == who.uid;
    if (::syscall(SYS_setgroups, who.groups.size(), who.groups.data()) != 0) return false;
    if (::syscall(SYS_setresgid, who.gid, who.gid, who.gid) != 0) return false;
    return ::syscall(SYS_setresuid, who.uid, who.uid, who.uid) == 0;
}

}  // namespace switchyard::os
