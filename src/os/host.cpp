#include "os/host.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>

namespace switchyard::os {
namespace {

// None: it is of this link only, or of no kind that we speak.
std::optional<std::string> text_of(const ifaddrs& entry) {
    char text[INET6_ADDRSTRLEN] = {};
    if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return std::nullopt;
    if (entry.ifa_addr->sa_family == AF_INET) {
        const auto* address = reinterpret_cast<const sockaddr_in*>(entry.ifa_addr);
        ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
    } else if (entry.ifa_addr->sa_family == AF_INET6) {
        const auto* address = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr);
        if (IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) return std::nullopt;
        ::inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text);
    } else {
        return std::nullopt;
    }
    return text;
}

}  // namespace

std::string full_host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

std::vector<std::string> own_addresses() {
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) return {"127.0.0.1"};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(found, ::freeifaddrs);
    std::vector<std::string> outside, loopback;
    for (const ifaddrs* entry = found; entry != nullptr; entry = entry->ifa_next) {
        auto text = text_of(*entry);
        if (!text) continue;
        ((entry->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : outside).push_back(*std::move(text));
    }
    std::ranges::move(loopback, std::back_inserter(outside));
    return outside;
}

bool is_this_host(const std::string& name) {
    if (name == "localhost" || name == "::1" || name.starts_with("127.")) return true;
    const std::string own = full_host_name();
    const std::size_t dot = own.find('.');
    if (name == own || name == own.substr(0, dot)) return true;
    // A host that does not know its domain takes any.
    if (dot == std::string::npos && name.starts_with(own + ".")) return true;
    const std::vector<std::string> addresses = own_addresses();
    return std::ranges::find(addresses, name) != addresses.end();
}

}  // namespace switchyard::os
