#include "wire/token.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace switchyard::wire {
namespace {

const std::string kKey(32, 'k');
const Instant kNow = from_unix_seconds(1'700'000'000);

TokenClaims alice() { return {.user = "alice", .issued = kNow, .expires = kNow + Seconds{1800}}; }

TEST(Token, ComesBackAsItWasMade) {
    const auto claims = check_token(make_token(alice(), kKey), kKey, kNow);
    ASSERT_TRUE(claims) << claims.error().message;
    EXPECT_EQ(*claims, alice());
    TokenClaims forever{.user = R"(o"dd\user)", .issued = kNow, .expires = {}};
    const auto odd = check_token(make_token(forever, kKey), kKey, kNow);
    ASSERT_TRUE(odd) << odd.error().message;
    EXPECT_EQ(*odd, forever);
}

// Made by another implementation of RFC 7519, so that not only we can read what we write.
TEST(Token, ReadsWhatOthersSign) {
    const std::string theirs =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
        "eyJpYXQiOiAxNzAwMDAwMDAwLCAiZXhwIjogMTcwMDAwMTgwMCwgInN1biI6ICJhbGljZSJ9."
        "9vPS9puf3nEtBCZa28sHpJerN6ZUY3QuFT0-ZeQlpo8";
    const auto claims = check_token(theirs, kKey, kNow);
    ASSERT_TRUE(claims) << claims.error().message;
    EXPECT_EQ(*claims, alice());
}

TEST(Token, EndsWhenItsTimeIsOver) {
    const std::string token = make_token(alice(), kKey);
    EXPECT_TRUE(check_token(token, kKey, kNow + Seconds{1799}));
    const auto late = check_token(token, kKey, kNow + Seconds{1800});
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, Errc::AccessDenied);
    EXPECT_EQ(late.error().message, "the token has expired");
}

TEST(Token, IsRefusedWhenAnyByteOfItOrTheKeyDiffers) {
    const std::string token = make_token(alice(), kKey);
    EXPECT_FALSE(check_token(token, std::string(32, 'x'), kNow));
    for (std::size_t i = 0; i < token.size(); ++i) {
        std::string changed = token;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        EXPECT_FALSE(check_token(changed, kKey, kNow)) << i;
    }
    for (const char* text : {"", ".", "..", "a.b", "a.b.c", "SLURM_JWT=x.y.z"})
        EXPECT_FALSE(check_token(text, kKey, kNow)) << text;
}

// {"alg":"none"} and friends: the key alone decides.
TEST(Token, OfAnotherAlgorithmIsRefused) {
    const std::string none = "eyJhbGciOiJub25lIn0.eyJzdW4iOiJyb290In0.";
    EXPECT_FALSE(check_token(none, kKey, kNow));
}

TEST(Token, KeyComesFromTheFileOrFromTheCluster) {
    const auto own = load_token_key("", kKey);
    ASSERT_TRUE(own);
    EXPECT_NE(*own, kKey);
    const std::string path = testing::TempDir() + "/jwt.key";
    std::ofstream(path) << std::string(32, 'f');
    const auto file = load_token_key("disable_token_creation,jwt_key=" + path, kKey);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(*file, std::string(32, 'f'));
    EXPECT_EQ(load_token_key("jwt_key=/nowhere/key", kKey).error().code, Errc::NotFound);
}

}  // namespace
}  // namespace switchyard::wire
