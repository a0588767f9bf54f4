// Goal: a static program knows the same users and groups as the C library. Method: this program has
// accounts_by_files.cpp in place of os/accounts.cpp; what it says is compared with getpwent() and
// getgrent(). Users of a name service: tests/system/test_users.py.
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>

#include <algorithm>

#include "os/users.hpp"

namespace switchyard::os {
namespace {

TEST(AccountsByFiles, UsersAreThoseOfTheCLibrary) {
    int seen = 0;
    ::setpwent();
    while (const passwd* known = ::getpwent()) {
        const auto user = find_user(std::string(known->pw_name));
        ASSERT_TRUE(user) << known->pw_name;
        EXPECT_EQ(user->uid, known->pw_uid);
        EXPECT_EQ(user->gid, known->pw_gid);
        EXPECT_EQ(user->home, known->pw_dir);
        EXPECT_EQ(user->shell, known->pw_shell);
        ++seen;
    }
    ::endpwent();
    EXPECT_GT(seen, 0);
    EXPECT_EQ(user_name(0), "root");
}

TEST(AccountsByFiles, GroupsAreThoseOfTheCLibrary) {
    int seen = 0;
    ::setgrent();
    while (const group* known = ::getgrent()) {
        const auto gid = find_group(known->gr_name);
        ASSERT_TRUE(gid) << known->gr_name;
        EXPECT_EQ(*gid, known->gr_gid);
        ++seen;
    }
    ::endgrent();
    EXPECT_GT(seen, 0);
    EXPECT_EQ(group_name(0), "root");
}

TEST(AccountsByFiles, NobodyIsFoundWhoIsNot) {
    EXPECT_FALSE(find_user(std::string("no-such-user")));
    EXPECT_FALSE(find_user(std::string("--help")));
    EXPECT_FALSE(find_user(std::string()));
    EXPECT_FALSE(find_user(uid_t{3'999'999'999}));
    EXPECT_FALSE(find_group("no-such-group"));
    EXPECT_EQ(user_name(3'999'999'999), "3999999999");
}

TEST(AccountsByFiles, AUserIsInTheGroupsThatNameIt) {
    std::vector<gid_t> expected{4'242};
    ::setgrent();
    while (const group* known = ::getgrent()) {
        for (char** member = known->gr_mem; *member != nullptr; ++member) {
            if (std::string_view(*member) == "daemon") expected.push_back(known->gr_gid);
        }
    }
    ::endgrent();
    std::vector<gid_t> groups = groups_of("daemon", 4'242);
    std::ranges::sort(expected);
    std::ranges::sort(groups);
    EXPECT_EQ(groups, expected);
}

}  // namespace
}  // namespace switchyard::os
