// session.hpp: what a command needs to talk to its cluster: which one it is, and an open
// connection.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "client/client.hpp"
#include "config/config.hpp"

namespace switchyard::cli {

struct Session {
    config::Config config;  // The few keys load_client_config reads.
    client::Connection connection;
};

// Errc::NotFound when no configuration is found, Errc::Unreachable when no controller answers.
Result<Session> open_session(const std::string& program);

// "slurm_load_jobs error: Unable to contact slurm controller (connect failure)", on standard error;
// `call` is what stands before the colon. A missing configuration is explained instead.
void say_call_failed(std::string_view program, std::string_view call, const Error& error);

// --clusters: there is one cluster, reached by its name or as "all". Says what is wrong and returns
// false for any other.
bool is_our_cluster(std::string_view program, std::string_view names, const config::Config& config);

}  // namespace switchyard::cli
