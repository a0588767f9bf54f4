#include "controller/links/calls.hpp"

#include <algorithm>
#include <utility>

#include "controller/links/replies.hpp"

namespace switchyard::controller {

core::Token Calls::ask(Session& session, std::uint64_t request, HeldBulk held) {
    const core::Token token{++last_token_};
    waiting_.emplace(token.value, Waiting{session.id, request, std::move(held)});
    session.tokens.insert(token.value);
    return token;
}

void Calls::withdraw(core::Token token) {
    const auto it = waiting_.find(token.value);
    if (it == waiting_.end()) return;
    if (Session* session = sessions_.find(it->second.session)) session->tokens.erase(token.value);
    waiting_.erase(it);
}

Calls::Waiting* Calls::find(core::Token token) {
    const auto it = waiting_.find(token.value);
    return it != waiting_.end() ? &it->second : nullptr;
}

std::optional<core::Token> Calls::token_of(SessionId session, std::uint64_t request) const {
    const auto it = std::ranges::find_if(waiting_, [&](const auto& entry) {
        return entry.second.session == session && entry.second.request == request;
    });
    return it != waiting_.end() ? std::optional(core::Token{it->first}) : std::nullopt;
}

void Calls::finish(Session& session, const std::string& frame) {
    if (session.in_flight > 0) {
        --session.in_flight;
        --session.share->requests;
    }
    session.send(frame);
}

void Calls::finish(SessionId id, const std::string& frame) {
    if (Session* session = sessions_.find(id)) finish(*session, frame);
}

void Calls::refuse(Session& session, std::uint64_t request, const Error& error) {
    finish(session, failure_frame(request, error));
}

void Calls::refuse(SessionId id, std::uint64_t request, const Error& error) {
    if (Session* session = sessions_.find(id)) refuse(*session, request, error);
}

}  // namespace switchyard::controller
