// Goal: what means this host, whatever it is called. Method: its own names and addresses, and
// others.
#include "os/host.hpp"

#include <gtest/gtest.h>

namespace switchyard::os {
namespace {

TEST(Host, IsMeantByItsNamesAndAddresses) {
    const std::string own = full_host_name();
    EXPECT_TRUE(is_this_host(own));
    EXPECT_TRUE(is_this_host(own.substr(0, own.find('.'))));
    for (const std::string& address : own_addresses())
        EXPECT_TRUE(is_this_host(address)) << address;
    for (const char* loopback : {"localhost", "127.0.0.1", "127.1.2.3", "::1"})
        EXPECT_TRUE(is_this_host(loopback)) << loopback;
}

TEST(Host, IsNotMeantByWhatOnlyBeginsAlike) {
    const std::string own = full_host_name();
    for (const std::string& other :
         {own + "2", "x" + own, std::string(), std::string("192.0.2.77")})
        EXPECT_FALSE(is_this_host(other)) << other;
}

TEST(Host, AddressesOfRealInterfacesComeBeforeLoopback) {
    bool loopback = false;
    for (const std::string& address : own_addresses()) {
        const bool is_loopback = address.starts_with("127.") || address == "::1";
        EXPECT_TRUE(is_loopback || !loopback) << address;
        loopback = loopback || is_loopback;
    }
    EXPECT_TRUE(loopback);
}

}  // namespace
}  // namespace switchyard::os
