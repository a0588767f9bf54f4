// opened.hpp: the first two steps to a controller: its state is opened, which keeps every other
// controller out, and the cluster is recovered from it. The third is Controller::serve(). Whoever
// takes over from another controller opens, waits, and recovers when it is its turn.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "controller/turn/what_now.hpp"
#include "core/cluster/cluster.hpp"
#include "os/log.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "wire/channel.hpp"

namespace switchyard::controller {

struct StartOptions {
    bool clear_state = false;  // -c: begin with an empty queue.
    bool restore = false;      // The database is a backup, put in its place on purpose.
    store::SqliteOptions store{};
    std::shared_ptr<WhatNow> what_now = std::make_shared<WhatNow>();
};

struct Opened {
    config::Config config;
    std::uint32_t slurm_user = 0;  // Its uid.
    core::Settings settings;
    wire::PresharedKey key;
    std::unique_ptr<store::Store> store;
    std::unique_ptr<store::Reader> reader;
    std::shared_ptr<WhatNow> what_now;
};
// Folders, key and database. Nothing in them has been changed but what says that they are ours.
Result<Opened> open_state(config::Config config, const StartOptions& options, os::Log& log);
std::string database_of(const config::Config& config);

struct Recovered {
    std::unique_ptr<core::Cluster> cluster;
    std::map<StepKey, store::Bytes> step_launches;
    bool ended_well = false, restored = false;
};
Result<Recovered> recover(const Opened& opened, Instant now, os::Log& log);

}  // namespace switchyard::controller
