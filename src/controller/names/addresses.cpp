#include "controller/names/addresses.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

#include "controller/links/agents.hpp"
#include "core/cluster/cluster.hpp"

namespace switchyard::controller {
namespace {

constexpr const char* kLoopback = "127.0.0.1";

}  // namespace

bool Addresses::is_resolved(const std::string& from, const std::string& to) const {
    if (from == to) return false;
    const std::string there = last_seen(to);
    if (there == kLoopback) return last_seen(from) != kLoopback;
    return there.empty();
}

std::string Addresses::seen_from(const std::string& from, const std::string& to) const {
    if (from == to) return kLoopback;
    if (!is_resolved(from, to)) return last_seen(to);
    for (const std::string& host : hosts_of(to)) {
        if (std::string address = names_.address_of(host); !address.empty()) return address;
    }
    return kLoopback;
}

// Nodes that are all on the controller's host reach each other over the loopback.
std::vector<NameKey> Addresses::needed(const std::vector<std::string>& nodes) const {
    const auto here = [&](const std::string& node) { return last_seen(node) == kLoopback; };
    std::vector<NameKey> keys;
    if (std::ranges::all_of(nodes, here)) return keys;
    for (const std::string& node : nodes) {
        if (!here(node) && !last_seen(node).empty()) continue;
        for (std::string& host : hosts_of(node)) keys.push_back(NameKey::host(std::move(host)));
    }
    return keys;
}

std::string Addresses::last_seen(const std::string& node) const {
    if (agents_.is_local(node)) return kLoopback;
    if (std::string seen = agents_.address_of(node); !seen.empty()) return seen;
    const model::Node* record = cluster_.find_node(node);
    return record != nullptr && record->facts ? record->facts->address : std::string();
}

std::vector<std::string> Addresses::hosts_of(const std::string& node) const {
    std::vector<std::string> hosts;
    const auto config = std::ranges::find(config_.nodes, node, &model::NodeConfig::name);
    if (config == config_.nodes.end()) return hosts;
    hosts.push_back(config->address);
    hosts.push_back(config->host_name.empty() ? node : config->host_name);
    for (const config::ControllerHost& host : config_.controllers)
        hosts.push_back(host.address.empty() ? host.host : host.address);
    std::erase(hosts, std::string());
    return hosts;
}

std::string numeric_address(const sockaddr* address, socklen_t size) {
    char text[NI_MAXHOST] = {};
    if (::getnameinfo(address, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) return {};
    return text;
}

bool is_loopback(const std::string& address) {
    return address.starts_with("127.") || address == "::1";
}

}  // namespace switchyard::controller
