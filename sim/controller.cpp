// controller.cpp: see controller.hpp.

#include "sim/controller.hpp"

#include <utility>
#include <variant>

#include "core/testing/describe.hpp"
#include "sim/run.hpp"
#include "wire/job_folding.hpp"

namespace switchyard::sim {

using core::testing::describe;

// Plans are renewed every few seconds, and timers looked at once more than needed, now and then.
constexpr std::uint32_t kIdleTurnsMax = 1000;

SimController::SimController(Simulation& sim, core::Settings settings)
    : sim_(sim), settings_(std::move(settings)) {}

void SimController::start() {
    ++incarnation_;
    sim_.world.trace("controller: starts with {} jobs on disk", disk_.jobs().size());
    // Now and then few jobs stay open: whoever holds on to one for too long is found out. (To look
    // at every job after every event costs ten times as much then.)
    core::JobKeeping keeping;
    if (sim_.world.random.chance(10)) keeping.folding = wire::make_job_folding();
    keeping.open_max = sim_.world.random.below(8);
    core::Records records = disk_.load();
    records.restored = restored_;
    cluster_ =
        std::make_unique<core::Cluster>(settings_, std::move(records), sim_.world.now(), keeping);
    cluster_->check_invariants();
    take(core::event::Tick{});
}

// What was written stays; of what was being written, the disk has a whole number of transactions.
void SimController::crash() {
    if (!up()) return;
    ++sim_.figures.crashes;
    std::size_t survived = 0;
    while (survived < writes_.size() && sim_.world.random.chance(50)) {
        write(writes_[survived].changes);
        ++survived;
    }
    sim_.world.trace("controller: killed; {} of {} writes reached the disk", survived,
                     writes_.size());
    writes_.clear();
    cluster_.reset();
    answers_.clear();
    stepping_.clear();
    payloads_.clear();
    turn_due_ = false;
    ++incarnation_;
    for (auto& node : sim_.nodes) node->cut();
    sim_.clients.connection_lost();
}

void SimController::back_up() {
    sim_.world.trace("-- backup of {} jobs", disk_.jobs().size());
    backup_ = disk_;
}

void SimController::restore() {
    sim_.world.trace("-- the backup is restored");
    disk_.roll_back_to(*backup_);
    backup_.reset();
    restored_ = true;
    sim_.checker.restored(disk_);
    start();
}

void SimController::take(const core::Event& event) {
    if (!up()) return;
    heard_ |= !std::holds_alternative<core::event::Tick>(event);
    ++sim_.figures.events;
    cluster_->step(sim_.world.now(), event);
    cluster_->check_invariants();
    sim_.checker.reservations_hold(*cluster_);
    sim_.checker.components_agree(*cluster_);
    if (turn_due_) return;
    turn_due_ = true;
    const std::uint64_t alive = incarnation_;
    sim_.world.after(Millis{sim_.world.random.below(4)}, [this, alive] {
        if (incarnation_ == alive) turn();
    });
}

// One turn of the loop: schedule once for all that came, and hand the changes to the disk.
void SimController::turn() {
    turn_due_ = false;
    cluster_->schedule(sim_.world.now());
    cluster_->check_invariants();
    if (cluster_->figures().stalls != 0)
        violated("something is due again and again and changes nothing");
    sim_.checker.reservations_hold(*cluster_);
    sim_.checker.components_agree(*cluster_);
    for (const model::Node& node : cluster_->nodes()) {
        if (node.down) sim_.checker.written_off(node.config.name, sim_.world.now());
    }
    if (restored_ && !cluster_->restoring()) {
        restored_ = false;
        for (const model::Node& node : cluster_->nodes()) {
            if (cluster_->asks_begun(node.config.name)) sim_.checker.unheard(node.config.name);
        }
    }
    core::Changes changes = cluster_->take_changes();
    std::vector<core::Effect> effects = cluster_->take_effects();
    const bool idle = !std::exchange(heard_, false) && changes.empty() && effects.empty();
    idle_turns_ = idle ? idle_turns_ + 1 : 0;
    if (idle_turns_ > kIdleTurnsMax) violated("turn after turn changes nothing");
    writes_.push_back({std::move(changes), std::move(effects)});
    const std::uint64_t alive = incarnation_;
    if (writes_.size() == 1) {
        sim_.world.after(Millis{sim_.world.random.between(1, 20)}, [this, alive] {
            if (incarnation_ == alive) written();
        });
    }
    wake_at_next();
}

void SimController::write(const core::Changes& changes) {
    disk_.apply(changes);
    for (const auto& [id, job] : changes.jobs) {
        if (job) sim_.checker.seen(*job);
    }
}

void SimController::written() {
    const Write done = std::move(writes_.front());
    writes_.pop_front();
    write(done.changes);
    if (writes_.empty() && !turn_due_) disk_.check_against(*cluster_);
    for (const core::Effect& effect : done.effects) {
        carry_out(effect);
        if (!up()) return;
    }
    const std::uint64_t alive = incarnation_;
    if (!writes_.empty()) {
        sim_.world.after(Millis{sim_.world.random.between(1, 20)}, [this, alive] {
            if (incarnation_ == alive) written();
        });
    }
}

void SimController::wake_at_next() {
    const auto next = cluster_->next_wakeup();
    if (!next) return;
    const std::uint64_t alive = incarnation_;
    sim_.world.at(std::max(*next, sim_.world.now() + Millis{1}), [this, alive, when = *next] {
        if (incarnation_ != alive) return;
        const auto due = cluster_->next_wakeup();
        if (due && *due <= when) take(core::event::Tick{});
    });
}

core::Token SimController::open(Answer answer) {
    const core::Token token{++last_token_};
    answers_[token] = std::move(answer);
    return token;
}

// PrologSlurmctld and EpilogSlurmctld take their time, and fail now and then. What ran when the
// controller was killed is lost, and is asked for again.
void SimController::program(const core::effect::RunProgram& run) {
    const std::uint64_t alive = incarnation_;
    const bool failed = sim_.faulty && sim_.world.random.chance(10);
    sim_.world.after(Millis{sim_.world.random.between(1, 3000)}, [this, alive, run, failed] {
        if (incarnation_ != alive) return;
        take(core::event::ProgramEnded{run.job, run.attempt, run.epilog, failed});
    });
}

void SimController::carry_out(const core::Effect& effect) {
    sim_.world.trace("controller: {}", describe(effect));
    if (const auto* reply = std::get_if<core::effect::Reply>(&effect)) {
        if (const auto* made = std::get_if<core::reply::StepMade>(&reply->body)) {
            if (stepping_.contains(reply->token)) {
                payloads_.insert(made->key);
                payloads_.insert(made->more.begin(), made->more.end());
            }
        }
        const std::uint64_t alive = incarnation_;
        sim_.world.after(Millis{sim_.world.random.below(5)}, [this, alive, copy = *reply] {
            if (incarnation_ != alive) return;
            const auto found = answers_.find(copy.token);
            if (found == answers_.end()) return;
            const Answer answer = found->second;
            if (copy.last) answers_.erase(found);
            answer(copy);
        });
        return;
    }
    if (const auto* run = std::get_if<core::effect::RunProgram>(&effect)) return program(*run);
    const std::string* name = nullptr;
    std::visit(
        [&](const auto& what) {
            if constexpr (requires { what.node; }) name = &what.node;
        },
        effect);
    SimNode* node = name == nullptr ? nullptr : sim_.find_node(*name);
    if (node == nullptr || !node->connected()) return;
    // A launch goes out complete; the shell adds the job as it is now.
    const model::Job* job = nullptr;
    const model::Step* step = nullptr;
    JobId id{};
    Attempt attempt{};
    if (const auto* batch = std::get_if<core::effect::LaunchBatch>(&effect)) {
        id = batch->job;
        attempt = batch->attempt;
    } else if (const auto* launch = std::get_if<core::effect::LaunchStep>(&effect)) {
        id = launch->key.job;
        attempt = launch->key.attempt;
        const auto found = cluster_->steps().find(launch->key);
        if (found == cluster_->steps().end()) return;
        step = &found->second;
        // What runs without an srun is stored with its record.
        if (!step->spec.detached && !payloads_.contains(launch->key))
            violated("a step is launched whose srun this process never heard");
    }
    if (id.value != 0) {
        const auto found = cluster_->jobs().find(id);
        if (found == cluster_->jobs().end() || found->second.attempt != attempt) return;
        if (model::allocation_of(found->second) == nullptr) return;
        job = &found->second;
    }
    node->receive(node->link(), effect, job, step);
}

}  // namespace switchyard::sim
