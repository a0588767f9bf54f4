// node.hpp: a pretended node: agent, stepds, spool, power. It keeps the rules that the real agent
// keeps, so that what the core relies on is written down here once more:
//   - a launch is idempotent, also after a restart of the agent (the spool remembers);
//   - an ended step is listed and reported until StepEndKnown;
//   - a batch script is begun once: the journal, which outlives its spool entry, knows it, and the
//     agent sends it to a controller that asks;
//   - EndJob is answered by JobClean when nothing of that run is left, at once if nothing ever was;
//   - messages on one connection keep their order; a broken connection loses what was under way.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "core/cluster/cluster.hpp"
#include "sim/world.hpp"

namespace switchyard::sim {

class Simulation;

struct Stepd {
    StepKey key;
    bool alive = true;  // Its processes run.
    bool frozen = false;
    Instant ends{};                   // By itself,
    std::optional<Instant> deadline;  // or at its limit.
    Millis left{0};                   // While frozen.
    model::ExitStatus exit;
    bool dying = false;
    std::optional<core::StepReport> report;  // It has ended.
    std::uint64_t life = 0;                  // Of the timer that ends it.
};

class SimNode {
  public:
    SimNode(Simulation& sim, model::NodeConfig config);

    const std::string& name() const { return config_.name; }
    bool connected() const { return connected_; }
    bool powered() const { return powered_; }
    const std::map<StepKey, Stepd>& stepds() const { return spool_; }

    // --- what goes wrong
    void cut();  // The connection breaks.
    void kill_agent();
    void crash_stepd();  // One of them, if there is any.
    void lose_power(bool wipe_spool);
    void kill_all();  // Agent and stepds at once, and the spool with its journal is emptied.

    // --- what comes over the wire; `link` is the connection it was sent on
    std::uint64_t link() const { return link_; }
    void receive(std::uint64_t link, const core::Effect& effect, const model::Job* job,
                 const model::Step* step);
    void connect_soon(Millis delay);

  private:
    void start_agent();
    void send(core::Event event);
    void send_again_later(core::Event event);
    void launch(const StepKey& key, const model::Job& job);
    void reboot();
    void go_down(bool wipe_spool);
    void arm(Stepd& stepd);
    void stepd_timer(const StepKey& key, std::uint64_t life);
    void end(Stepd& stepd, core::StepReport report);
    void terminate(Stepd& stepd, Seconds grace);
    void report(const Stepd& stepd);
    void answer_clean();
    bool anything_left(JobId job, Attempt attempt) const;
    void forget_spool();
    bool refuse_begun(const StepKey& key);
    void tell_journal();

    Simulation& sim_;
    model::NodeConfig config_;
    bool powered_ = true, agent_up_ = false, connected_ = false;
    Instant booted_{};
    std::uint64_t link_ = 0;
    std::uint64_t boot_ = 0;  // Counts lives of the node; timers of an earlier one are void.
    Instant last_sent_{}, last_received_{};
    std::map<StepKey, Stepd> spool_;
    std::map<std::pair<JobId, Attempt>, core::event::NodeBegan::Script> journal_;
    std::set<std::pair<JobId, Attempt>> ending_;  // EndJob was asked for; lost with the agent.
    std::uint64_t lives_ = 0;
};

}  // namespace switchyard::sim
