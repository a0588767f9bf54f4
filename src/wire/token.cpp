#include "wire/token.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/text.hpp"
#include "wire/key.hpp"

namespace switchyard::wire {
namespace {

constexpr std::string_view kHeader = R"({"alg":"HS256","typ":"JWT"})";
constexpr std::size_t kSecretBytesMin = 16;
constexpr std::size_t kTokenBytesMax = 8192;

std::string hmac(std::string_view key, std::string_view text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
    return {reinterpret_cast<const char*>(digest), size};
}

// Base64 for addresses: '-' and '_', no padding.
std::string encode64(std::string_view bytes) {
    std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    out.resize(static_cast<std::size_t>(size));
    while (out.ends_with('=')) out.pop_back();
    for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return out;
}

std::optional<std::string> decode64(std::string_view text) {
    std::string padded(text);
    for (char& c : padded) {
        const bool known = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                           (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (!known) return std::nullopt;
        c = c == '-' ? '+' : c == '_' ? '/' : c;
    }
    const std::size_t missing = (4 - padded.size() % 4) % 4;
    if (missing == 3) return std::nullopt;
    padded.append(missing, '=');
    std::string out(padded.size() / 4 * 3, '\0');
    const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                     reinterpret_cast<const unsigned char*>(padded.data()),
                                     static_cast<int>(padded.size()));
    if (size < 0) return std::nullopt;
    out.resize(static_cast<std::size_t>(size) - missing);
    return out;
}

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

// A reader of flat objects, {"key": "text", "other": 12}: all that a token's parts are.
class FlatObject {
  public:
    static std::optional<FlatObject> parse(std::string_view text) {
        FlatObject object;
        object.rest_ = text;
        if (!object.take('{')) return std::nullopt;
        if (object.take('}')) return object.ends() ? std::optional(object) : std::nullopt;
        do {
            auto key = object.take_text();
            if (!key || !object.take(':')) return std::nullopt;
            Member member{*std::move(key), {}, {}};
            if (object.peek() == '"') {
                member.text = object.take_text();
                if (!member.text) return std::nullopt;
            } else if (!(member.number = object.take_number())) {
                return std::nullopt;
            }
            object.members_.push_back(std::move(member));
        } while (object.take(','));
        if (!object.take('}') || !object.ends()) return std::nullopt;
        return object;
    }
    std::optional<std::string> text(std::string_view key) const {
        const Member* member = find(key);
        return member != nullptr ? member->text : std::nullopt;
    }
    std::optional<std::int64_t> number(std::string_view key) const {
        const Member* member = find(key);
        return member != nullptr ? member->number : std::nullopt;
    }
    bool has(std::string_view key) const { return find(key) != nullptr; }

  private:
    struct Member {
        std::string key;
        std::optional<std::string> text;
        std::optional<std::int64_t> number;
    };
    const Member* find(std::string_view key) const {
        for (const Member& member : members_) {
            if (member.key == key) return &member;
        }
        return nullptr;
    }
    char peek() {
        rest_ = trim(rest_);
        return rest_.empty() ? '\0' : rest_.front();
    }
    bool ends() { return peek() == '\0'; }
    bool take(char c) {
        if (peek() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    std::optional<std::string> take_text() {
        if (!take('"')) return std::nullopt;
        std::string out;
        while (!rest_.empty() && rest_.front() != '"') {
            if (rest_.front() == '\\') rest_.remove_prefix(1);
            if (rest_.empty()) return std::nullopt;
            out += rest_.front();
            rest_.remove_prefix(1);
        }
        return take('"') ? std::optional(out) : std::nullopt;
    }
    std::optional<std::int64_t> take_number() {
        std::size_t length = 0;
        while (length < rest_.size() && rest_[length] >= '0' && rest_[length] <= '9') ++length;
        const auto number = parse_uint(rest_.substr(0, length));
        if (!number || *number > INT64_MAX) return std::nullopt;
        rest_.remove_prefix(length);
        return static_cast<std::int64_t>(*number);
    }

    std::string_view rest_;
    std::vector<Member> members_;
};

}  // namespace

Result<std::string> load_token_key(const std::string& auth_alt_parameters,
                                   std::string_view cluster_key) {
    for (const std::string_view piece : split(auth_alt_parameters, ',')) {
        const std::string_view word = trim(piece);
        if (!starts_with_ignoring_case(word, "jwt_key=")) continue;
        const std::string path(word.substr(8));
        std::ifstream file(path, std::ios::binary);
        std::string key{std::istreambuf_iterator<char>(file), {}};
        if (!file && key.empty()) {
            return fail(Errc::NotFound, fmt::format("AuthAltParameters: jwt_key={}: {}", path,
                                                    std::strerror(errno)));
        }
        if (key.size() < kSecretBytesMin) {
            return fail(Errc::InvalidArgument,
                        fmt::format("AuthAltParameters: jwt_key={}: the key has less than {} bytes",
                                    path, kSecretBytesMin));
        }
        return key;
    }
    return hmac(cluster_key, "tokens of users");
}

std::string make_token(const TokenClaims& claims, std::string_view key) {
    std::string body = "{";
    if (claims.expires) body += fmt::format("\"exp\":{},", unix_seconds(*claims.expires));
    body +=
        fmt::format("\"iat\":{},\"sun\":{}}}", unix_seconds(claims.issued), quoted(claims.user));
    const std::string text = encode64(kHeader) + "." + encode64(body);
    return text + "." + encode64(hmac(key, text));
}

Result<TokenClaims> check_token(std::string_view token, std::string_view key, Instant now) {
    const auto refuse = [](const char* why) { return fail(Errc::AccessDenied, why); };
    const std::size_t first = token.find('.');
    const std::size_t last = token.rfind('.');
    if (token.size() > kTokenBytesMax || first == std::string_view::npos || first == last)
        return refuse("this is no token");
    if (!same_secret(token.substr(last + 1), encode64(hmac(key, token.substr(0, last)))))
        return refuse("the token was not signed by this cluster");
    const auto header = decode64(token.substr(0, first));
    const auto body = decode64(token.substr(first + 1, last - first - 1));
    const auto head = header ? FlatObject::parse(*header) : std::nullopt;
    const auto object = body ? FlatObject::parse(*body) : std::nullopt;
    if (!head || !object || head->text("alg") != "HS256") return refuse("this is no token");
    const auto user = object->text("sun") ? object->text("sun") : object->text("username");
    if (!user || user->empty()) return refuse("the token names no user");
    TokenClaims claims;
    claims.user = *user;
    claims.issued = from_unix_seconds(object->number("iat").value_or(0));
    if (object->has("exp")) {
        const auto end = object->number("exp");
        if (!end) return refuse("this is no token");
        claims.expires = from_unix_seconds(*end);
        if (*claims.expires <= now) return refuse("the token has expired");
    }
    return claims;
}

}  // namespace switchyard::wire
