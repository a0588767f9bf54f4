// agent.hpp: one node's agent: its link to the controller, its steps, and the relay for commands
// typed here.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "agent/controller_link.hpp"
#include "agent/gpu_keeper.hpp"
#include "agent/relay.hpp"
#include "agent/steps.hpp"
#include "config/config.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "model/node.hpp"
#include "os/log.hpp"

namespace switchyard::wire {
class Reboot;
}  // namespace switchyard::wire

namespace switchyard::agent {

// What an agent is made of; main() finds it out.
struct AgentPlan {
    config::Config config;
    std::string name;  // Of the node; of the host for a login host.
    bool relay_only = false;
    model::NodeFacts facts;
    NodeSetup setup;
    NodeGpus gpus;
};

class Agent {
  public:
    // `read_again`: the plan by the configuration as it is by then.
    using ReadAgain = std::function<Result<AgentPlan>()>;
    Agent(io::Loop& loop, AgentPlan plan, os::Log& log, ReadAgain read_again);

    // Opens the relay's socket, finds the steps of an earlier run, and starts to dial.
    Status start();
    // Reads the configuration again: the next launches and scripts know it, and the controller
    // hears what is new of the node. A bad one is not taken over.
    void reconfigure();
    // The log is another file now: stepds that start from here on write to it.
    void on_log_opened();
    // Running steps go on, and what serves them; the rest is cleared away.
    void stop();

  private:
    void fill_registration(wire::AgentToController& message);
    void on_message(const wire::ControllerToAgent& message);
    void replace(AgentPlan plan);
    void keep_what_cannot_change(AgentPlan& plan);
    void send_load();
    void reboot(const wire::Reboot& order);
    void start_keeper();
    std::string problem() const;
    void on_fault(const std::string& reason);
    void report_idle(const Steps::JobKey& job, std::optional<Instant> since);

    io::Loop& loop_;
    AgentPlan plan_;
    os::Log& log_;
    ReadAgain read_again_;
    std::string config_mark_;     // Of the files that were read last.
    std::optional<Steps> steps_;  // None on a login host.
    std::unique_ptr<GpuKeeper> keeper_;
    ControllerLink link_;
    std::unique_ptr<Relay> relay_;
    io::Loop::Timer load_timer_;
    std::string fault_;  // Told once: an administrator may resume the node.
    bool rebooting_ = false;
    io::Fd reboot_process_;
    io::Loop::Watch reboot_watch_;
};

}  // namespace switchyard::agent
