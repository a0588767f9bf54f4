#include "agent/user_names.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "os/users.hpp"

namespace switchyard::agent {
namespace {

TEST(UserNames, ComeFromTheNameServiceAndAreKept) {
    io::Loop loop;
    UserNames names(loop);
    std::string found;
    names.find(::getuid(), [&](const std::string& name) {
        found = name;
        loop.stop();
    });
    EXPECT_EQ(found, "") << "not before the service has answered";
    loop.run();
    EXPECT_EQ(found, os::user_name(::getuid()));
    found.clear();
    names.find(::getuid(), [&](const std::string& name) { found = name; });
    EXPECT_EQ(found, os::user_name(::getuid())) << "at once, the second time";
}

TEST(UserNames, WhoHasNoneIsANumberAndAllWhoWaitAreTold) {
    io::Loop loop;
    UserNames names(loop);
    std::vector<std::string> found;
    for (int i = 0; i < 2; ++i) {
        names.find(3999999999, [&](const std::string& name) {
            found.push_back(name);
            if (found.size() == 2) loop.stop();
        });
    }
    loop.run();
    EXPECT_EQ(found, (std::vector<std::string>{"3999999999", "3999999999"}));
}

TEST(UserNames, NobodyIsToldWhenTheyAreGone) {
    io::Loop loop;
    {
        UserNames names(loop);
        names.find(::getuid(), [](const std::string&) { FAIL(); });
    }
    const auto end = loop.after(Millis{50}, [&] { loop.stop(); });
    loop.run();
}

}  // namespace
}  // namespace switchyard::agent
