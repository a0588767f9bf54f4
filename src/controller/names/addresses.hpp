// addresses.hpp: under which address one node of a job reaches another. Jobs resolve node names by
// these, so a name need not be known to any DNS.
#pragma once

#include <sys/socket.h>

#include <string>
#include <vector>

#include "config/config.hpp"
#include "controller/names/names.hpp"

namespace switchyard::core {
class Cluster;
}

namespace switchyard::controller {

class Agents;

class Addresses {
  public:
    Addresses(const config::Config& config, const Agents& agents, const core::Cluster& cluster,
              const Names& names)
        : config_(config), agents_(agents), cluster_(cluster), names_(names) {}

    // Numeric. On one host it is the loopback, between hosts where the other's agent was seen or,
    // for a node on the controller's own host, what the configuration's address of it resolves to.
    std::string seen_from(const std::string& from, const std::string& to) const;
    // What has to be looked up before these nodes can be told of each other.
    std::vector<NameKey> needed(const std::vector<std::string>& nodes) const;

  private:
    // Where its agent is, or was before our restart; empty: never seen.
    std::string last_seen(const std::string& node) const;
    // Names of the node's host, the best one first.
    std::vector<std::string> hosts_of(const std::string& node) const;
    // Where it was seen says nothing to others.
    bool is_resolved(const std::string& from, const std::string& to) const;

    const config::Config& config_;
    const Agents& agents_;
    const core::Cluster& cluster_;
    const Names& names_;
};

std::string numeric_address(const sockaddr* address, socklen_t size);  // Empty: not possible.
bool is_loopback(const std::string& address);

}  // namespace switchyard::controller
