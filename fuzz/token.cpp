// token.cpp: tokens that somebody brings. Only what was signed with the key is taken.
#include "wire/token.hpp"

#include "fuzz/fuzz.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = fuzz::as_text(data, size);
    const std::string key(32, 'k');
    const Instant now = from_unix_seconds(1'700'000'000);
    fuzz::must(!wire::check_token(text, key + "x", now), "nobody guesses a signature",
               std::string(text));
    // As the name of a user it must come back, whatever it is.
    const wire::TokenClaims claims{.user = std::string(text), .issued = now, .expires = {}};
    if (text.empty() || text.size() > 4096) return 0;
    const auto back = wire::check_token(wire::make_token(claims, key), key, now);
    fuzz::must(back && *back == claims, "a token comes back as it was made", std::string(text));
    return 0;
}

}  // namespace switchyard
