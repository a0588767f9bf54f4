// accounts_by_files.cpp: accounts for a program that is linked statically. Those of this machine
// are read from its files; for all others (LDAP, SSSD) getent is asked, a program of the C library,
// which can load the name service's plug-ins as we cannot.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/text.hpp"
#include "os/accounts.hpp"
#include "os/files.hpp"
#include "os/spawn.hpp"

namespace switchyard::os::accounts {
namespace {

using Fields = std::vector<std::string_view>;  // Of "name:x:1000:..."

constexpr std::size_t kName = 0, kNumber = 2, kMembers = 3;

std::string read_to_end(int fd) {
    std::string text;
    char chunk[4096];
    for (;;) {
        const ssize_t got = ::read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return text;
        text.append(chunk, static_cast<std::size_t>(got));
    }
}

// What `getent DATABASE KEY` prints; nothing when it finds nothing, or is not there.
std::string ask_getent(const std::string& database, const std::string& key) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    const io::Fd reading(ends[0]);
    io::Fd writing(ends[1]);
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const auto child =
        spawn({.path = "/usr/bin/getent",
               .argv = {"getent", "--", database, key},
               .environment = {"PATH=/usr/bin:/bin"},
               .descriptors = {{nothing.get(), 0}, {writing.get(), 1}, {nothing.get(), 2}}});
    if (!child) return {};
    writing.reset();
    std::string text = read_to_end(reading.get());
    int status = 0;
    while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
    }
    return text;
}

// The line of a database's text in which this field is the key.
std::optional<Fields> find_line(std::string_view text, std::size_t field, std::string_view key) {
    for (const std::string_view line : split(text, '\n')) {
        Fields fields = split(line, ':');
        if (fields.size() > kNumber && fields[field] == key) return fields;
    }
    return std::nullopt;
}

// The record, made of the fields of its line. `make` gives none for a line that is malformed.
template <class Make>
auto look_up(const std::string& database, std::size_t field, const std::string& key, Make make)
    -> decltype(make(Fields())) {
    if (key.empty()) return std::nullopt;
    if (const auto file = read_file("/etc/" + database)) {
        if (const auto line = find_line(*file, field, key)) return make(*line);
    }
    const std::string said = ask_getent(database, key);
    const auto line = find_line(said, field, key);
    return line ? make(*line) : std::nullopt;
}

std::optional<std::uint32_t> id(std::string_view text) {
    const auto number = parse_uint(text);
    if (!number || *number >= UINT32_MAX) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

std::optional<User> to_user(const Fields& fields) {
    if (fields.size() < 7) return std::nullopt;
    const auto uid = id(fields[kNumber]), gid = id(fields[3]);
    if (!uid || !gid) return std::nullopt;
    return User{*uid, *gid, std::string(fields[kName]), std::string(fields[5]),
                std::string(fields[6])};
}

std::optional<Group> to_group(const Fields& fields) {
    const auto gid = id(fields[kNumber]);
    if (!gid) return std::nullopt;
    Group group{*gid, std::string(fields[kName]), {}};
    if (fields.size() <= kMembers) return group;
    for (const std::string_view member : split(fields[kMembers], ',')) {
        if (!member.empty()) group.members.emplace_back(member);
    }
    return group;
}

}  // namespace

std::optional<User> user(uid_t uid) {
    return look_up("passwd", kNumber, std::to_string(uid), to_user);
}
std::optional<User> user(const std::string& name) {
    return look_up("passwd", kName, name, to_user);
}
std::optional<Group> group(gid_t gid) {
    return look_up("group", kNumber, std::to_string(gid), to_group);
}
std::optional<Group> group(const std::string& name) {
    return look_up("group", kName, name, to_group);
}

// "alice      100 1000 1001"
std::vector<gid_t> groups_of(const std::string& user, gid_t primary) {
    std::vector<gid_t> groups{primary};
    const std::string said = ask_getent("initgroups", user);
    const std::string_view line = std::string_view(said).substr(0, said.find('\n'));
    for (const std::string_view word :
         split(line.substr(std::min(line.size(), user.size())), ' ')) {
        const auto gid = id(word);
        if (gid && *gid != primary) groups.push_back(*gid);
    }
    return groups;
}

}  // namespace switchyard::os::accounts
