#include "os/accounts.hpp"

#include <grp.h>
#include <pwd.h>

#include <cerrno>

namespace switchyard::os::accounts {
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

template <class Find>
std::optional<User> look_up_user(Find find) {
    passwd record{};
    std::vector<char> buffer;
    if (!look_up(record, buffer, find)) return std::nullopt;
    return User{record.pw_uid, record.pw_gid, record.pw_name, record.pw_dir, record.pw_shell};
}

template <class Find>
std::optional<Group> look_up_group(Find find) {
    ::group record{};
    std::vector<char> buffer;
    if (!look_up(record, buffer, find)) return std::nullopt;
    Group group{record.gr_gid, record.gr_name, {}};
    for (char** member = record.gr_mem; *member != nullptr; ++member)
        group.members.emplace_back(*member);
    return group;
}

}  // namespace

std::optional<User> user(uid_t uid) {
    return look_up_user([uid](passwd* record, char* buffer, std::size_t size, passwd** found) {
        return ::getpwuid_r(uid, record, buffer, size, found);
    });
}

std::optional<User> user(const std::string& name) {
    return look_up_user([&name](passwd* record, char* buffer, std::size_t size, passwd** found) {
        return ::getpwnam_r(name.c_str(), record, buffer, size, found);
    });
}

std::optional<Group> group(gid_t gid) {
    return look_up_group([gid](::group* record, char* buffer, std::size_t size, ::group** found) {
        return ::getgrgid_r(gid, record, buffer, size, found);
    });
}

std::optional<Group> group(const std::string& name) {
    return look_up_group([&name](::group* record, char* buffer, std::size_t size, ::group** found) {
        return ::getgrnam_r(name.c_str(), record, buffer, size, found);
    });
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

}  // namespace switchyard::os::accounts
