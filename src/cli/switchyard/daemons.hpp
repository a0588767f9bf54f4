// daemons.hpp: the daemons of a cluster on this host: finding, starting and stopping
// them.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "config/config.hpp"

namespace switchyard::cli {

struct Daemon {
    std::string program;  // "slurmctld", "slurmd"
    std::string node;     // Of an agent.
    std::string config;   // Its -f.
    std::string log;      // Where it says why it did not start, once it has a log.

    std::string title() const { return node.empty() ? program : program + " " + node; }
};

// The controller (if this host is its host) and the agents of the nodes that are this host.
std::vector<Daemon> daemons_here(const config::Config& config);

// By its command line, so that a pid file that outlived its daemon misleads nobody.
std::optional<pid_t> find_daemon(const Daemon& daemon);

// The folder of this program, and so of all commands.
std::string own_folder();

// Runs it until it has gone into the background; its last words are the error.
Status start_daemon(const Daemon& daemon);

// SIGTERM, and SIGKILL for one that does not go; returns when it is gone. Io if it may not be
// signalled.
Status stop_daemon(const Daemon& daemon, pid_t pid, Millis patience);

// How many steps of this cluster's jobs still run on this host: sockets in the spools that somebody
// answers.
std::size_t count_steps(const config::Config& config);

}  // namespace switchyard::cli
