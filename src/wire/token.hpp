// token.hpp: tokens by which a user is known where no kernel can say who asks (JSON web tokens,
// HS256). The controller makes them for `scontrol token`; whoever serves requests over the network
// checks them by the same key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace switchyard::wire {

struct TokenClaims {
    std::string user;                // "sun"
    Instant issued{};                // "iat"
    std::optional<Instant> expires;  // "exp"; none: never.
    bool operator==(const TokenClaims&) const = default;
};

// The secret that tokens are signed with: the file that AuthAltParameters=jwt_key= names, else one
// made from the cluster's key.
Result<std::string> load_token_key(const std::string& auth_alt_parameters,
                                   std::string_view cluster_key);

std::string make_token(const TokenClaims& claims, std::string_view key);
// AccessDenied: it is none of ours, was tampered with, or its time is over.
Result<TokenClaims> check_token(std::string_view token, std::string_view key, Instant now);

}  // namespace switchyard::wire
