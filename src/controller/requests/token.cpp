// token.cpp: scontrol token: a token for the caller, or by an operator for anybody.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "controller/links/replies.hpp"
#include "controller/requests/requests.hpp"
#include "wire/proto/request.pb.h"
#include "wire/token.hpp"

namespace switchyard::controller {
namespace {

constexpr Seconds kUsualLifespan{1800};

struct Rules {
    bool operators_only = false;              // disable_token_creation
    std::optional<Seconds> longest_lifespan;  // max_token_lifespan=
};

Rules rules_of(const std::string& auth_alt_parameters) {
    Rules rules;
    constexpr std::string_view kLongest = "max_token_lifespan=";
    for (const std::string_view piece : split(auth_alt_parameters, ',')) {
        const std::string_view word = trim(piece);
        if (equals_ignoring_case(word, "disable_token_creation")) rules.operators_only = true;
        if (!starts_with_ignoring_case(word, kLongest)) continue;
        if (const auto seconds = parse_uint(word.substr(kLongest.size())))
            rules.longest_lifespan = Seconds{static_cast<std::int64_t>(*seconds)};
    }
    return rules;
}

Result<std::string> token_for(AdminContext& context, const model::Caller& caller,
                              const wire::TokenRequest& asked) {
    const std::string own = context.names.name_of(caller.uid);
    const Rules rules = rules_of(context.config.auth_alt_parameters);
    const std::string user = asked.user().empty() ? own : asked.user();
    if (!context.cluster.rights_of(caller).may_make_token(user == own, rules.operators_only))
        return fail(Errc::AccessDenied, std::string(errc_text(Errc::AccessDenied)));
    if (user != own && !context.names.uid_of(user))
        return fail(Errc::InvalidUserId, fmt::format("there is no user {}", user));
    wire::TokenClaims claims{.user = user, .issued = context.now(), .expires = {}};
    Seconds lifespan = kUsualLifespan;
    if (asked.has_lifespan())
        lifespan = Seconds{
            static_cast<std::int64_t>(std::min<std::uint64_t>(asked.lifespan(), UINT32_MAX))};
    if (rules.longest_lifespan && (lifespan.count() == 0 || lifespan > *rules.longest_lifespan))
        return fail(Errc::AccessDenied,
                    fmt::format("tokens live {} seconds at most", rules.longest_lifespan->count()));
    if (lifespan.count() != 0) claims.expires = claims.issued + lifespan;
    SY_TRY(const std::string key,
           wire::load_token_key(context.config.auth_alt_parameters, context.cluster_key));
    return wire::make_token(claims, key);
}

}  // namespace

void handle_token(AdminContext& context, Session& session, const wire::Request& request) {
    const auto token = token_for(context, session.caller, request.token());
    if (!token) {
        context.log.error("no token for uid={}: {}", session.caller.uid, token.error().message);
        return context.calls.refuse(session, request.id(), token.error());
    }
    wire::Reply reply;
    reply.set_id(request.id());
    reply.set_last(true);
    reply.mutable_token()->set_token(*token);
    context.calls.finish(session, reply.SerializeAsString());
}

}  // namespace switchyard::controller
