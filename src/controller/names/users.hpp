// users.hpp: names and groups of users, as this host's NSS (files, LDAP, SSSD) knows them,
// remembered for a while: one look-up must not be paid for by every submission.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace switchyard::controller {

struct User {
    std::string name;
    std::uint32_t gid = 0;  // Of the password entry.
};

class Users {
  public:
    // None: this host does not know the user.
    const std::optional<User>& find(std::uint32_t uid);
    // "alice", or "1000" where there is no name.
    std::string name_of(std::uint32_t uid);
    std::string group_name(std::uint32_t gid);
    // All groups of the user, `gid` among them; empty if this host does not know the user.
    const std::vector<std::uint32_t>& groups_of(std::uint32_t uid, std::uint32_t gid);
    void forget();  // After a reconfigure.

  private:
    using Clock = std::chrono::steady_clock;
    template <class T>
    struct Known {
        T value{};
        Clock::time_point until;
    };
    std::map<std::uint32_t, Known<std::optional<User>>> users_;
    std::map<std::uint32_t, Known<std::string>> group_names_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Known<std::vector<std::uint32_t>>> groups_;
};

// The uids of all members of a group; none if there is no such group.
std::optional<std::vector<std::uint32_t>> members_of(const std::string& group);

// The uid of a user name, or of a number; none if there is no such user.
std::optional<std::uint32_t> uid_of(const std::string& name);

}  // namespace switchyard::controller
