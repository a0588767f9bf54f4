// agent_reconfigure.cpp: an agent takes over a new configuration while it runs.
#include <fmt/format.h>

#include <algorithm>

#include "agent/agent.hpp"

namespace switchyard::agent {
namespace {

bool same_machine(const model::NodeFacts& a, model::NodeFacts b) {
    b.free_memory = a.free_memory;
    b.cpu_load = a.cpu_load;
    b.card_use = a.card_use;
    return a == b;
}

bool same_way_to_the_controller(const config::Config& a, const config::Config& b) {
    const auto same_host = [](const config::ControllerHost& x, const config::ControllerHost& y) {
        return x.host == y.host && x.address == y.address;
    };
    return std::ranges::equal(a.controllers, b.controllers, same_host) &&
           a.controller_port == b.controller_port && a.key_file == b.key_file;
}

}  // namespace

void Agent::on_log_opened() {
    if (steps_) steps_->renew_spares();
}

void Agent::reconfigure() {
    auto fresh = read_again_();
    config_mark_ = config::change_mark(fresh ? fresh->config : plan_.config);
    if (!fresh) {
        return log_.error(fmt::format("configuration not taken over: {}", fresh.error().message));
    }
    if (fresh->name != plan_.name || fresh->relay_only != plan_.relay_only) {
        return log_.error(
            fmt::format("configuration not taken over: this host was {} {} and is {} {}; restart "
                        "slurmd",
                        plan_.relay_only ? "login host" : "node", plan_.name,
                        fresh->relay_only ? "login host" : "node", fresh->name));
    }
    replace(*std::move(fresh));
    log_.info("configuration read again");
}

// Where steps and sockets are found, and what holds the steps, stays as long as they do.
void Agent::keep_what_cannot_change(AgentPlan& plan) {
    const auto keep = [this](const char* key, auto& fresh, const auto& old) {
        if (fresh == old) return;
        log_.error(fmt::format("{} has changed: it is taken over when slurmd is restarted", key));
        fresh = old;
    };
    keep("ClusterName", plan.config.cluster_name, plan_.config.cluster_name);
    keep("SwitchyardRunDir", plan.config.run_dir, plan_.config.run_dir);
    keep("SlurmdSpoolDir", plan.config.spool_dir, plan_.config.spool_dir);
    plan.setup.spool = plan.setup.scripts.spool = plan_.setup.spool;
    plan.setup.scripts.cluster = plan_.setup.scripts.cluster;
    keep("the kind of containment", plan.setup.containment.kind, plan_.setup.containment.kind);
    plan.setup.containment = plan_.setup.containment;
    plan.facts.containment = plan_.facts.containment;
    plan.facts.agent_started = plan_.facts.agent_started;
    plan.facts.booted = plan_.facts.booted;
}

void Agent::replace(AgentPlan plan) {
    keep_what_cannot_change(plan);
    const bool same_way = same_way_to_the_controller(plan.config, plan_.config);
    const model::NodeFacts before = plan_.facts;
    keeper_.reset();
    plan_ = std::move(plan);
    if (steps_) steps_->set_setup(plan_.setup);
    start_keeper();
    // Commands that wait at this host are hung up on by a new connection: not without need.
    if (!same_way) return link_.reconnect();
    if (!same_machine(before, plan_.facts)) link_.register_again();
}

}  // namespace switchyard::agent
