// ask_name_service.cpp: the questions themselves. They wait for whoever answers.
#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>

#include <memory>

#include "base/text.hpp"
#include "controller/names/addresses.hpp"
#include "controller/names/names.hpp"
#include "os/accounts.hpp"
#include "os/users.hpp"

namespace switchyard::controller {
namespace {

NameAnswer to_answer(const Result<os::User>& user) {
    NameAnswer answer;
    if (!user) return answer;
    answer.found = true;
    answer.text = user->name;
    answer.uid = user->uid;
    answer.gid = user->gid;
    return answer;
}

NameAnswer user_named(const std::string& name) {
    NameAnswer answer = to_answer(os::find_user(name));
    if (answer.found) return answer;
    // A number is a user too, with a password entry or without: a cluster of one's own in a
    // container.
    const auto number = parse_uint(name);
    if (!number || *number > UINT32_MAX) return answer;
    answer.found = true;
    answer.uid = static_cast<std::uint32_t>(*number);
    return answer;
}

NameAnswer groups_of(std::uint32_t uid, std::uint32_t gid, bool with_names) {
    NameAnswer answer = to_answer(os::find_user(uid));
    if (!answer.found) return answer;
    const auto groups = os::groups_of(answer.text, gid);
    answer.ids.assign(groups.begin(), groups.end());
    if (!with_names) return answer;
    for (const gid_t group : groups) answer.names.push_back(os::group_name(group));
    return answer;
}

NameAnswer members_of(const std::string& name) {
    NameAnswer answer;
    const auto group = os::accounts::group(name);
    if (!group) return answer;
    answer.found = true;
    for (const std::string& member : group->members) {
        const NameAnswer user = user_named(member);
        if (user.found) answer.ids.push_back(user.uid);
    }
    return answer;
}

// The first address that other hosts could use.
NameAnswer host(const std::string& name) {
    NameAnswer answer;
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (name.empty() || ::getaddrinfo(name.c_str(), nullptr, &hints, &found) != 0) return answer;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
    for (const addrinfo* entry = found; entry != nullptr && !answer.found; entry = entry->ai_next) {
        answer.text = numeric_address(entry->ai_addr, entry->ai_addrlen);
        answer.found = !answer.text.empty() && !is_loopback(answer.text);
    }
    return answer;
}

}  // namespace

NameAnswer ask_name_service(const NameKey& key) {
    switch (key.kind) {
        case NameKey::Kind::User:
            return to_answer(os::find_user(key.id));
        case NameKey::Kind::Group: {
            NameAnswer answer;
            answer.found = true;
            answer.text = os::group_name(key.id);
            return answer;
        }
        case NameKey::Kind::GroupsOf:
            return groups_of(key.id, key.gid, false);
        case NameKey::Kind::GroupNamesOf:
            return groups_of(key.id, key.gid, true);
        case NameKey::Kind::UserNamed:
            return user_named(key.name);
        case NameKey::Kind::MembersOf:
            return members_of(key.name);
        case NameKey::Kind::Host:
            return host(key.name);
    }
    return {};
}

}  // namespace switchyard::controller
