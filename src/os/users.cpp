#include "os/users.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/assert.hpp"
#include "os/files.hpp"

namespace switchyard::os {
namespace {

constexpr std::size_t kRecordBytesMax = 1u << 20;

// Calls getpw*_r or getgr*_r with a buffer that grows until the record fits.
template <class Record, class Find>
bool look_up(Record& record, std::vector<char>& buffer, Find find) {
    buffer.resize(4096);
    Record* found = nullptr;
    while (find(&record, buffer.data(), buffer.size(), &found) == ERANGE) {
        if (buffer.size() >= kRecordBytesMax) return false;
        buffer.resize(buffer.size() * 4);
    }
    return found != nullptr;
}

User to_user(const passwd& record) {
    return {record.pw_uid, record.pw_gid, record.pw_name, record.pw_dir, record.pw_shell};
}

}  // namespace

Result<User> find_user(uid_t uid) {
    passwd record{};
    std::vector<char> buffer;
    const bool found =
        look_up(record, buffer, [uid](passwd* r, char* b, std::size_t n, passwd** out) {
            return ::getpwuid_r(uid, r, b, n, out);
        });
    if (!found) return fail(Errc::NotFound, "no account with uid " + std::to_string(uid));
    return to_user(record);
}

Result<User> find_user(const std::string& name) {
    passwd record{};
    std::vector<char> buffer;
    const bool found =
        look_up(record, buffer, [&name](passwd* r, char* b, std::size_t n, passwd** out) {
            return ::getpwnam_r(name.c_str(), r, b, n, out);
        });
    if (!found) return fail(Errc::NotFound, "no account named " + name);
    return to_user(record);
}

std::string user_name(uid_t uid) {
    const auto user = find_user(uid);
    return user ? user->name : std::to_string(uid);
}

std::string group_name(gid_t gid) {
    group record{};
    std::vector<char> buffer;
    const bool found =
        look_up(record, buffer, [gid](group* r, char* b, std::size_t n, group** out) {
            return ::getgrgid_r(gid, r, b, n, out);
        });
    return found ? record.gr_name : std::to_string(gid);
}

std::vector<gid_t> groups_of(const std::string& user, gid_t primary) {
    int count = 64;
    std::vector<gid_t> groups(static_cast<std::size_t>(count));
    if (::getgrouplist(user.c_str(), primary, groups.data(), &count) < 0) {
        groups.resize(static_cast<std::size_t>(count));
        ::getgrouplist(user.c_str(), primary, groups.data(), &count);
    }
    groups.resize(static_cast<std::size_t>(count));
    return groups;
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
