// users.hpp: who a job runs as: the account's groups and home, and acting as that user for a
// moment.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace switchyard::os {

struct User {
    uid_t uid = 0;
    gid_t gid = 0;
    std::string name, home, shell;
};

// By the name service, so LDAP and SSSD count. NotFound if there is no such account.
Result<User> find_user(uid_t uid);
Result<User> find_user(const std::string& name);
std::string user_name(uid_t uid);  // The number where there is no name.
std::string group_name(gid_t gid);
Result<gid_t> find_group(const std::string& name);  // NotFound
std::vector<gid_t> groups_of(const std::string& user, gid_t primary);

// Who a step runs as.
struct Identity {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;
};

// While it lives, files are opened with the user's rights (effective ids; root only). Without root
// it does nothing: we are that user already. Single-threaded programs only.
class ActingAs {
  public:
    explicit ActingAs(const Identity& who);
    ~ActingAs();
    ActingAs(const ActingAs&) = delete;
    ActingAs& operator=(const ActingAs&) = delete;
    bool ok() const { return ok_; }

  private:
    bool switched_ = false, ok_ = true;
    gid_t old_gid_ = 0;
    std::vector<gid_t> old_groups_;
};

// For good: supplementary groups, gid, uid. Between fork and exec; makes only system calls. False:
// errno says why. Without root it succeeds only for the user that we already are.
bool become(const Identity& who);

}  // namespace switchyard::os
