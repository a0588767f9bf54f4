// accounts.hpp: where accounts and groups are looked up. accounts.cpp asks the C library's name
// service, so LDAP and SSSD count; a program that is linked statically cannot load that service's
// plug-ins and brings another way with it (static/accounts_by_files.cpp). For users.cpp, and
// for whoever needs more of a group than its number.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "os/users.hpp"

namespace switchyard::os::accounts {

struct Group {
    gid_t gid = 0;
    std::string name;
    std::vector<std::string> members;  // Those that are listed; it may be others' own group.
};

std::optional<User> user(uid_t uid);
std::optional<User> user(const std::string& name);
std::optional<Group> group(gid_t gid);
std::optional<Group> group(const std::string& name);
// All groups of a user, this one among them.
std::vector<gid_t> groups_of(const std::string& user, gid_t primary);

}  // namespace switchyard::os::accounts
