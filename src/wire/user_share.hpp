// user_share.hpp: what one user has of a daemon: connections, requests under way, memory. Each kind
// has a limit (base/limits.hpp), so that whoever takes too much is refused, and nobody else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "wire/channel.hpp"

namespace switchyard::wire {

struct UserShare {
    std::size_t connections = 0;
    std::size_t requests = 0;  // Under way.
    std::shared_ptr<Allowance> unfinished, unsent, held;
};

// By uid. A share lives while somebody holds it. Root has no limits.
class UserShares {
  public:
    std::shared_ptr<UserShare> of(std::uint32_t uid);

  private:
    std::map<std::uint32_t, std::weak_ptr<UserShare>> shares_;
};

// What a client of this user may cost; it reads which limit it went over.
Terms client_terms(const UserShare& share);

// Bytes that are counted as held by the user for as long as anybody has them. Busy: too many.
Result<std::shared_ptr<const std::string>> hold_bytes(const UserShare& share, std::string bytes);

// A failure that is about the connection itself.
std::string refusal_frame(const Error& why);

}  // namespace switchyard::wire
