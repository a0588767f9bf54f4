// controller.hpp: the shell around the real core: group commit, effects after the commit, crash and
// recovery.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/cluster/cluster.hpp"
#include "core/testing/fake_disk.hpp"
#include "sim/world.hpp"

namespace switchyard::sim {

class Simulation;

class SimController {
  public:
    SimController(Simulation& sim, core::Settings settings);

    bool up() const { return cluster_ != nullptr; }
    std::uint64_t incarnation() const { return incarnation_; }
    core::Cluster& cluster() { return *cluster_; }
    const core::testing::FakeDisk& disk() const { return disk_; }
    bool idle() const { return up() && writes_.empty() && !turn_due_; }

    void start();
    void crash();
    // A copy of the disk; and a start with that copy in the place of the disk.
    void back_up();
    bool has_backup() const { return backup_.has_value(); }
    void restore();

    void take(const core::Event& event);
    // A request of a client: `answer` gets each reply until the last, or until the controller dies.
    using Answer = std::function<void(const core::effect::Reply&)>;
    core::Token open(Answer answer);
    void close(core::Token token) { answers_.erase(token); }
    // A step that srun has described to this incarnation, so that it can be launched.
    void know_payload(core::Token token) { stepping_.insert(token); }

  private:
    struct Write {
        core::Changes changes;
        std::vector<core::Effect> effects;
    };
    void turn();
    void write(const core::Changes& changes);
    void written();
    void carry_out(const core::Effect& effect);
    void program(const core::effect::RunProgram& run);
    void wake_at_next();

    Simulation& sim_;
    core::Settings settings_;
    core::testing::FakeDisk disk_;
    std::optional<core::testing::FakeDisk> backup_;
    bool restored_ = false;  // Until the nodes have said what they ran since.
    bool heard_ = false;     // Something other than the passing of time, since the last turn.
    std::uint32_t idle_turns_ = 0;  // In a row, for which time alone was the reason.
    std::unique_ptr<core::Cluster> cluster_;
    std::uint64_t incarnation_ = 0;
    std::deque<Write> writes_;
    bool turn_due_ = false;
    std::map<core::Token, Answer> answers_;
    std::set<core::Token> stepping_;
    std::set<StepKey> payloads_;
    std::uint64_t last_token_ = 0;
};

}  // namespace switchyard::sim
