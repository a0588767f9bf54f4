#include "wire/key.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "wire/cluster_key.hpp"

namespace switchyard::wire {
namespace {

class ClusterKeyTest : public testing::Test {
  protected:
    ClusterKeyTest() {
        char name[] = "/tmp/sy-key-XXXXXX";
        folder_ = ::mkdtemp(name);
        path_ = folder_ + "/cluster.key";
    }
    ~ClusterKeyTest() override { std::filesystem::remove_all(folder_); }
    void write(const std::string& text, mode_t mode) const {
        std::ofstream(path_, std::ios::binary) << text;
        ::chmod(path_.c_str(), mode);
    }
    std::string folder_, path_;
};

TEST_F(ClusterKeyTest, IsMadeOnceForItsOwnerAlone) {
    const auto made = load_or_create_cluster_key(path_, "blue");
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->identity, "blue");
    EXPECT_EQ(made->key.size(), kKeyBytes);
    struct stat facts{};
    ASSERT_EQ(::stat(path_.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0400u);
    const auto again = load_or_create_cluster_key(path_, "blue");
    ASSERT_TRUE(again);
    EXPECT_EQ(again->key, made->key);
}

TEST_F(ClusterKeyTest, IsTheSameForAllWhoMakeItAtOnce) {
    std::vector<std::string> keys(8);
    std::vector<std::thread> threads;
    for (std::string& key : keys) {
        threads.emplace_back([&] {
            const auto made = load_or_create_cluster_key(path_, "blue");
            if (made) key = made->key;
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), 1u);
    EXPECT_EQ(keys[0].size(), kKeyBytes);
}

TEST_F(ClusterKeyTest, ReadsHexadecimalDigitsAndRawBytes) {
    write(std::string(64, 'a') + "\n", 0400);
    EXPECT_EQ(load_cluster_key(path_, "blue")->key, std::string(32, '\xaa'));
    std::filesystem::remove(path_);
    write(std::string(32, 'r'), 0600);
    EXPECT_EQ(load_cluster_key(path_, "blue")->key, std::string(32, 'r'));
}

TEST_F(ClusterKeyTest, SaysWhatIsWrongWithIt) {
    EXPECT_EQ(load_cluster_key(path_, "blue").error().code, Errc::NotFound);
    write("short", 0400);
    EXPECT_EQ(load_cluster_key(path_, "blue").error().message,
              "cluster key " + path_ + " does not hold 32 bytes");
    ::chmod(path_.c_str(), 0440);
    const auto open_to_others = load_cluster_key(path_, "blue");
    EXPECT_EQ(open_to_others.error().code, Errc::AccessDenied);
    EXPECT_THAT(open_to_others.error().message, testing::HasSubstr("chmod 400"));
}

TEST(Key, RandomBytesDiffer) {
    EXPECT_EQ(random_bytes(7).size(), 7u);
    EXPECT_NE(random_key(), random_key());
}

TEST(Key, ComparesSecretsByEveryByte) {
    EXPECT_TRUE(same_secret("", ""));
    EXPECT_TRUE(same_secret("abc", "abc"));
    EXPECT_FALSE(same_secret("abc", "abd"));
    EXPECT_FALSE(same_secret("abc", "xbc"));
    EXPECT_FALSE(same_secret("abc", "abcd"));
}

TEST(Key, TheProofOfOneSideIsNotThatOfTheOther) {
    const std::string key = random_key();
    EXPECT_EQ(stepd_proof(key).size(), kKeyBytes / 2);
    EXPECT_EQ(stepd_proof(key) + srun_proof(key), key);
}

TEST(Key, HexIsReadBackAndNothingElse) {
    const std::string bytes = random_bytes(100);
    EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
    EXPECT_EQ(from_hex("0aFf"), "\x0a\xff");
    EXPECT_FALSE(from_hex("0"));
    EXPECT_FALSE(from_hex("0g"));
}

}  // namespace
}  // namespace switchyard::wire
