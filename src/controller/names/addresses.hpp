// addresses.hpp: under which address one node of a job reaches another. Jobs resolve node names by
// these, so a name need not be known to any DNS.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace switchyard::core {
class Cluster;
}

namespace switchyard::controller {

class Agents;

class Addresses {
  public:
    Addresses(const config::Config& config, const Agents& agents, const core::Cluster& cluster)
        : config_(config), agents_(agents), cluster_(cluster) {}

    // Numeric. On one host it is the loopback, between hosts where the other's agent was seen or,
    // for a node on the controller's own host, what the configuration's address of it resolves to.
    std::string seen_from(const std::string& from, const std::string& to) const;
    void forget() { resolved_.clear(); }

  private:
    // Where its agent is, or was before our restart; empty: never seen.
    std::string last_seen(const std::string& node) const;
    const std::string& resolved(const std::string& node) const;

    const config::Config& config_;
    const Agents& agents_;
    const core::Cluster& cluster_;
    mutable std::map<std::string, std::string> resolved_;
};

// True if the configured machine is this one: by its name or by an address of ours.
bool is_this_host(const std::string& name_or_address);
std::string local_host_name();

}  // namespace switchyard::controller
