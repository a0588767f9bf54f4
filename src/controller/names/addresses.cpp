#include "controller/names/addresses.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "controller/links/agents.hpp"
#include "core/cluster/cluster.hpp"

namespace switchyard::controller {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

std::string numeric(const sockaddr* address, socklen_t size) {
    char text[NI_MAXHOST] = {};
    if (::getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return {};
    return text;
}

// The first address that other hosts could use; empty if there is none.
std::string resolve(const std::string& host) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (host.empty() || ::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0) return {};
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
    for (const addrinfo* entry = found; entry != nullptr; entry = entry->ai_next) {
        const std::string text = numeric(entry->ai_addr, entry->ai_addrlen);
        if (!text.empty() && !text.starts_with("127.") && text != "::1") return text;
    }
    return {};
}

std::vector<std::string> own_addresses() {
    ifaddrs* found = nullptr;
    if (::getifaddrs(&found) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(found, ::freeifaddrs);
    std::vector<std::string> out;
    for (const ifaddrs* entry = found; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr) continue;
        if (entry->ifa_addr->sa_family == AF_INET)
            out.push_back(numeric(entry->ifa_addr, sizeof(sockaddr_in)));
        if (entry->ifa_addr->sa_family == AF_INET6) {
            out.push_back(numeric(entry->ifa_addr, sizeof(sockaddr_in6)));
        }
    }
    return out;
}

}  // namespace

std::string Addresses::seen_from(const std::string& from, const std::string& to) const {
    if (from == to) return kLoopback;
    const std::string there = last_seen(to);
    if (there == kLoopback && last_seen(from) == kLoopback) return kLoopback;
    if (!there.empty() && there != kLoopback) return there;
    const std::string& address = resolved(to);
    return address.empty() ? kLoopback : address;
}

std::string Addresses::last_seen(const std::string& node) const {
    if (agents_.is_local(node)) return kLoopback;
    if (std::string seen = agents_.address_of(node); !seen.empty()) return seen;
    const model::Node* record = cluster_.find_node(node);
    return record != nullptr && record->facts ? record->facts->address : std::string();
}

const std::string& Addresses::resolved(const std::string& node) const {
    const auto [it, fresh] = resolved_.try_emplace(node);
    if (!fresh) return it->second;
    const auto config = std::ranges::find(config_.nodes, node, &model::NodeConfig::name);
    if (config == config_.nodes.end()) return it->second;
    it->second = resolve(config->address);
    if (it->second.empty())
        it->second = resolve(config->host_name.empty() ? node : config->host_name);
    for (const config::ControllerHost& host : config_.controllers) {
        if (it->second.empty())
            it->second = resolve(host.address.empty() ? host.host : host.address);
    }
    return it->second;
}

std::string local_host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
    return name;
}

bool is_this_host(const std::string& name) {
    if (name == "localhost" || name == "::1" || name.starts_with("127.")) return true;
    const std::string own = local_host_name();
    if (name == own || name == own.substr(0, own.find('.'))) return true;
    const std::vector<std::string> addresses = own_addresses();
    return std::ranges::find(addresses, name) != addresses.end();
}

}  // namespace switchyard::controller
