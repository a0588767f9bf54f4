// calls.hpp: requests that somebody waits for: those that the core has yet to answer, by the token
// it answers to, and the way back for every answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/result.hpp"
#include "controller/links/sessions.hpp"
#include "controller/turn/bulk.hpp"
#include "core/cluster/event.hpp"

namespace switchyard::controller {

class Calls {
  public:
    struct Waiting {  // A request that the core has yet to answer.
        SessionId session;
        std::uint64_t request = 0;
        HeldBulk held;
    };

    explicit Calls(Sessions& sessions) : sessions_(sessions) {}
    Calls(const Calls&) = delete;
    Calls& operator=(const Calls&) = delete;

    core::Token ask(Session& session, std::uint64_t request, HeldBulk held = {});
    // The core was not asked after all, or has said its last.
    void withdraw(core::Token token);
    // Null: its connection has closed.
    Waiting* find(core::Token token);
    std::optional<core::Token> token_of(SessionId session, std::uint64_t request) const;

    // The last answer to a request.
    void finish(Session& session, const std::string& frame);
    void finish(SessionId session, const std::string& frame);
    void refuse(Session& session, std::uint64_t request, const Error& error);
    void refuse(SessionId session, std::uint64_t request, const Error& error);

  private:
    Sessions& sessions_;
    std::uint64_t last_token_ = 0;
    std::unordered_map<std::uint64_t, Waiting> waiting_;
};

}  // namespace switchyard::controller
