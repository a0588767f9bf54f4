#include "controller/names/users.hpp"

#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.hpp"

namespace switchyard::controller {
namespace {

constexpr auto kRemembered = std::chrono::minutes(10);
constexpr auto kUnknownRemembered = std::chrono::seconds(10);  // They may be added any moment.
constexpr std::size_t kBufferBytesMax = 1u << 20;
constexpr int kGroupsMax = 65536;

// Calls a get..._r function with a growing buffer. The entry's texts live in `buffer`.
template <class Entry, class Call>
bool look_up(Entry& entry, std::vector<char>& buffer, Call call) {
    for (buffer.resize(4096); buffer.size() <= kBufferBytesMax; buffer.resize(buffer.size() * 4)) {
        Entry* found = nullptr;
        const int result = call(&entry, buffer.data(), buffer.size(), &found);
        if (result != ERANGE) return found != nullptr;
    }
    return false;
}

std::optional<User> user_by_uid(std::uint32_t uid) {
    passwd entry{};
    std::vector<char> buffer;
    const bool found = look_up(entry, buffer, [uid](passwd* e, char* b, std::size_t n, passwd** f) {
        return ::getpwuid_r(uid, e, b, n, f);
    });
    if (!found) return std::nullopt;
    return User{.name = entry.pw_name, .gid = entry.pw_gid};
}

std::string group_by_gid(std::uint32_t gid) {
    group entry{};
    std::vector<char> buffer;
    const bool found = look_up(entry, buffer, [gid](group* e, char* b, std::size_t n, group** f) {
        return ::getgrgid_r(gid, e, b, n, f);
    });
    return found ? std::string(entry.gr_name) : std::to_string(gid);
}

std::vector<std::uint32_t> group_list(const std::string& user, std::uint32_t gid) {
    std::vector<gid_t> groups(64);
    for (;;) {
        int count = static_cast<int>(groups.size());
        if (::getgrouplist(user.c_str(), gid, groups.data(), &count) >= 0) {
            return {groups.begin(), groups.begin() + count};
        }
        if (count > kGroupsMax) return {};
        groups.resize(static_cast<std::size_t>(count));
    }
}

}  // namespace

const std::optional<User>& Users::find(std::uint32_t uid) {
    auto& known = users_[uid];
    if (const auto now = Clock::now(); now >= known.until) {
        known.value = user_by_uid(uid);
        known.until = now + (known.value ? Clock::duration(kRemembered)
                                         : Clock::duration(kUnknownRemembered));
    }
    return known.value;
}

std::string Users::name_of(std::uint32_t uid) {
    const auto& user = find(uid);
    return user ? user->name : std::to_string(uid);
}

std::string Users::group_name(std::uint32_t gid) {
    auto& known = group_names_[gid];
    if (const auto now = Clock::now(); now >= known.until)
        known = {group_by_gid(gid), now + kRemembered};
    return known.value;
}

const std::vector<std::uint32_t>& Users::groups_of(std::uint32_t uid, std::uint32_t gid) {
    auto& known = groups_[{uid, gid}];
    if (const auto now = Clock::now(); now >= known.until) {
        const auto& user = find(uid);
        known.value = user ? group_list(user->name, gid) : std::vector<std::uint32_t>();
        known.until =
            now + (user ? Clock::duration(kRemembered) : Clock::duration(kUnknownRemembered));
    }
    return known.value;
}

void Users::forget() {
    users_.clear();
    group_names_.clear();
    groups_.clear();
}

std::optional<std::vector<std::uint32_t>> members_of(const std::string& name) {
    group entry{};
    std::vector<char> buffer;
    const bool found = look_up(entry, buffer, [&name](group* e, char* b, std::size_t n, group** f) {
        return ::getgrnam_r(name.c_str(), e, b, n, f);
    });
    if (!found) return std::nullopt;
    std::vector<std::uint32_t> uids;
    for (char** member = entry.gr_mem; *member != nullptr; ++member) {
        if (const auto uid = uid_of(*member)) uids.push_back(*uid);
    }
    return uids;
}

std::optional<std::uint32_t> uid_of(const std::string& name) {
    passwd entry{};
    std::vector<char> buffer;
    const bool found =
        look_up(entry, buffer, [&name](passwd* e, char* b, std::size_t n, passwd** f) {
            return ::getpwnam_r(name.c_str(), e, b, n, f);
        });
    if (found) return entry.pw_uid;
    // A number is a user too, with a password entry or without: a cluster of one's own in a
    // container.
    const auto number = parse_uint(name);
    if (!number || *number > UINT32_MAX) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

}  // namespace switchyard::controller
