// addresses.hpp: under which address one node of a job reaches another. Jobs resolve node names by
// these, so a name need not be known to any DNS.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace switchyard::controller {

class Agents;

class Addresses {
  public:
    Addresses(const config::Config& config, const Agents& agents)
        : config_(config), agents_(agents) {}

    // Numeric. On one host it is the loopback, between hosts where the other's agent was seen or,
    // for a node on the controller's own host, what the configuration's address of it resolves to.
    std::string seen_from(const std::string& from, const std::string& to) const;
    void forget() { resolved_.clear(); }

  private:
    const std::string& resolved(const std::string& node) const;

    const config::Config& config_;
    const Agents& agents_;
    mutable std::map<std::string, std::string> resolved_;
};

// True if the configured machine is this one: by its name or by an address of ours.
bool is_this_host(const std::string& name_or_address);
std::string local_host_name();

}  // namespace switchyard::controller
