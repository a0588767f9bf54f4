// node.cpp: see node.hpp.

#include "sim/node.hpp"

#include <algorithm>
#include <utility>

#include "core/testing/describe.hpp"
#include "sim/run.hpp"

namespace switchyard::sim {

using core::testing::name_of;

SimNode::SimNode(Simulation& sim, model::NodeConfig config)
    : sim_(sim), config_(std::move(config)) {
    booted_ = sim.world.now() - Seconds{100};
    start_agent();
}

void SimNode::start_agent() {
    agent_up_ = true;
    connect_soon(Millis{sim_.world.random.between(1, 2000)});
}

void SimNode::connect_soon(Millis delay) {
    const std::uint64_t boot = boot_, link = link_;
    sim_.world.after(delay, [this, boot, link] {
        if (boot_ != boot || link_ != link || !agent_up_ || connected_) return;
        if (!sim_.controller.up()) return connect_soon(Millis{500});
        ++link_;
        connected_ = true;
        last_sent_ = last_received_ = sim_.world.now();
        core::event::NodeUp up{config_.name, {}, {}};
        up.facts.cpus = config_.cpus;
        up.facts.sockets = config_.sockets;
        up.facts.cores_per_socket = config_.cores_per_socket;
        up.facts.threads_per_core = config_.threads_per_core;
        up.facts.memory = config_.memory;
        up.facts.booted = booted_;
        for (const auto& [key, stepd] : spool_) up.steps.push_back(key);
        sim_.world.trace("{}: registers with {} steps", config_.name, up.steps.size());
        send(std::move(up));
        tell_journal();
        for (const auto& [key, stepd] : spool_) {
            if (stepd.report) report(stepd);
        }
    });
}

void SimNode::cut() {
    if (!connected_) return;
    ++sim_.figures.faults;
    connected_ = false;
    ++link_;
    sim_.world.trace("{}: connection lost", config_.name);
    const std::uint64_t alive = sim_.controller.incarnation();
    sim_.world.after(Millis{sim_.world.random.below(3000)}, [this, alive] {
        if (sim_.controller.incarnation() != alive || connected_) return;
        sim_.controller.take(core::event::NodeLost{config_.name});
    });
    if (agent_up_)
        connect_soon(Millis{sim_.world.random.chance(10) ? sim_.world.random.between(1000, 40000)
                                                         : sim_.world.random.between(50, 4000)});
}

// Asked for in the answer to its registration, and sent some time after it.
void SimNode::tell_journal() {
    if (!sim_.controller.cluster().asks_begun(config_.name)) return;
    const std::uint64_t link = link_;
    const bool late = sim_.world.random.chance(20);
    sim_.world.after(Millis{sim_.world.random.between(1, late ? 8000 : 40)}, [this, link] {
        if (link_ != link) return;
        core::event::NodeBegan began{config_.name, {}};
        for (const auto& [run, script] : journal_) began.scripts.push_back(script);
        send(std::move(began));
    });
}

bool SimNode::refuse_begun(const StepKey& key) {
    if (key.step != kBatchStep || !journal_.contains({key.job, key.attempt})) return false;
    sim_.world.trace("{}: {} has begun before", config_.name, name_of(key));
    core::StepReport report;
    report.key = key;
    report.lost = report.begun_before = true;
    report.job_clean = !anything_left(key.job, key.attempt);
    send(core::event::StepEnded{config_.name, report});
    return true;
}

void SimNode::forget_spool() {
    sim_.checker.spool_emptied(config_.name);
    spool_.clear();
    journal_.clear();
}

void SimNode::kill_all() {
    if (!powered_) return;
    sim_.world.trace("{}: everything killed, the spool emptied", config_.name);
    for (auto& [key, stepd] : spool_) {
        if (!stepd.alive) continue;
        RunTruth truth;
        truth.launched = truth.crashed = true;
        sim_.checker.over(config_.name, key, truth);
    }
    kill_agent();
    forget_spool();
}

void SimNode::kill_agent() {
    if (!agent_up_) return;
    sim_.world.trace("{}: agent killed", config_.name);
    agent_up_ = false;
    ending_.clear();
    cut();
    const std::uint64_t boot = boot_;
    sim_.world.after(Millis{sim_.world.random.between(200, 10000)}, [this, boot] {
        if (boot_ == boot && !agent_up_) start_agent();
    });
}

void SimNode::crash_stepd() {
    std::vector<StepKey> alive;
    for (const auto& [key, stepd] : spool_) {
        if (stepd.alive) alive.push_back(key);
    }
    if (alive.empty()) return;
    ++sim_.figures.faults;
    Stepd& stepd =
        spool_.at(alive[sim_.world.random.below(static_cast<std::uint32_t>(alive.size()))]);
    sim_.world.trace("{}: stepd of {} dies", config_.name, name_of(stepd.key));
    core::StepReport lost;
    lost.lost = true;
    RunTruth truth;
    truth.launched = truth.crashed = true;
    sim_.checker.over(config_.name, stepd.key, truth);
    stepd.alive = false;
    end(stepd, lost);
}

// Everything that ran is gone. The spool is on a disk that may or may not have survived.
void SimNode::lose_power(bool wipe_spool) {
    if (!powered_) return;
    ++sim_.figures.faults;
    sim_.world.trace("{}: loses power", config_.name);
    sim_.checker.lost_power();
    go_down(wipe_spool);
}

void SimNode::reboot() {
    const auto alive = [](const auto& entry) { return entry.second.alive; };
    if (std::ranges::any_of(spool_, alive)) violated("a node is told to reboot that has steps");
    sim_.world.trace("{}: reboots", config_.name);
    go_down(false);
}

void SimNode::go_down(bool wipe_spool) {
    ++boot_;
    powered_ = agent_up_ = false;
    ending_.clear();
    cut();
    for (auto& [key, stepd] : spool_) {
        if (!stepd.alive) continue;
        RunTruth truth;
        truth.launched = truth.crashed = true;
        sim_.checker.over(config_.name, key, truth);
        stepd.alive = false;
        stepd.report.emplace();
        stepd.report->key = key;
        stepd.report->lost = true;
    }
    if (wipe_spool) forget_spool();
    sim_.world.after(Millis{sim_.world.random.between(2000, 60000)}, [this] {
        powered_ = true;
        booted_ = sim_.world.now();
        sim_.world.trace("{}: power is back", config_.name);
        start_agent();
    });
}

void SimNode::send(core::Event event) {
    if (!connected_) return;
    World& world = sim_.world;
    if (sim_.faulty && world.random.chance(2)) send_again_later(event);
    last_sent_ =
        std::max(last_sent_ + Millis{1}, world.now() + Millis{world.random.between(1, 30)});
    const std::uint64_t link = link_, alive = sim_.controller.incarnation();
    world.at(last_sent_, [this, link, alive, event = std::move(event)] {
        if (link_ != link || sim_.controller.incarnation() != alive) return;
        sim_.controller.take(event);
    });
}

// A second copy that arrives out of order, whatever has happened to the connection meanwhile.
void SimNode::send_again_later(core::Event event) {
    const bool repeatable = std::holds_alternative<core::event::StepEnded>(event) ||
                            std::holds_alternative<core::event::JobClean>(event);
    if (!repeatable) return;
    sim_.world.after(Millis{sim_.world.random.between(1, 10000)},
                     [this, event = std::move(event)] { sim_.controller.take(event); });
}

void SimNode::receive(std::uint64_t link, const core::Effect& effect, const model::Job* job,
                      const model::Step* step) {
    World& world = sim_.world;
    last_received_ =
        std::max(last_received_ + Millis{1}, world.now() + Millis{world.random.between(1, 30)});
    std::optional<model::Job> job_copy;
    if (job != nullptr) job_copy = *job;
    static_cast<void>(step);
    world.at(last_received_, [this, link, effect, job_copy] {
        if (link_ != link || !agent_up_) return;
        if (const auto* batch = std::get_if<core::effect::LaunchBatch>(&effect)) {
            launch({batch->job, batch->attempt, kBatchStep}, *job_copy);
        } else if (const auto* one = std::get_if<core::effect::LaunchStep>(&effect)) {
            launch(one->key, *job_copy);
        } else if (const auto* end_step = std::get_if<core::effect::EndStep>(&effect)) {
            if (const auto found = spool_.find(end_step->key); found != spool_.end())
                terminate(found->second, kKillWait);
        } else if (const auto* end_job = std::get_if<core::effect::EndJob>(&effect)) {
            ending_.insert({end_job->job, end_job->attempt});
            for (auto& [key, stepd] : spool_) {
                if (key.job == end_job->job && key.attempt == end_job->attempt)
                    terminate(stepd, end_job->grace);
            }
            answer_clean();
        } else if (const auto* known = std::get_if<core::effect::StepEndKnown>(&effect)) {
            const auto found = spool_.find(known->key);
            if (found != spool_.end() && found->second.report) spool_.erase(found);
        } else if (std::holds_alternative<core::effect::RebootNode>(effect)) {
            reboot();
        } else if (const auto* set = std::get_if<core::effect::SetDeadline>(&effect)) {
            for (auto& [key, stepd] : spool_) {
                if (key.job != set->job || key.attempt != set->attempt || !stepd.alive) continue;
                stepd.deadline = set->deadline;
                arm(stepd);
            }
        } else if (const auto* freeze = std::get_if<core::effect::Freeze>(&effect)) {
            for (auto& [key, stepd] : spool_) {
                if (key.job != freeze->job || key.attempt != freeze->attempt || !stepd.alive)
                    continue;
                if (freeze->thaw && stepd.frozen) {
                    stepd.frozen = false;
                    stepd.ends = sim_.world.now() + stepd.left;
                } else if (!freeze->thaw && !stepd.frozen) {
                    stepd.frozen = true;
                    stepd.left = std::max(Millis{0}, stepd.ends - sim_.world.now());
                }
                arm(stepd);
            }
        }
    });
}

void SimNode::launch(const StepKey& key, const model::Job& job) {
    if (spool_.contains(key)) return;  // A launch is idempotent.
    if (refuse_begun(key)) return;
    World& world = sim_.world;
    std::vector<StepKey> alive;
    for (const auto& [other, stepd] : spool_) {
        // What stands still may lend its cores.
        if (stepd.alive && !stepd.frozen) alive.push_back(other);
    }
    sim_.checker.executed(config_.name, key, job, alive, sim_.controller);
    if (key.step == kBatchStep) {
        core::event::NodeBegan::Script& script = journal_[{key.job, key.attempt}];
        script = {key.job, key.attempt, {}};
        if (job.array) script.array = job.array->array_id;
        if (job.array && job.array->element) script.element = *job.array->element;
    }
    sim_.world.trace("{}: runs {}", config_.name, name_of(key));
    Stepd stepd;
    stepd.key = key;
    stepd.ends = world.now() + Millis{world.random.between(200, 40000)};
    if (const auto* run = model::run_of(job)) stepd.deadline = run->ends_by;
    if (world.random.chance(25))
        stepd.exit.code = static_cast<std::int32_t>(world.random.between(1, 5));
    Stepd& kept = spool_.emplace(key, stepd).first->second;
    send(core::event::StepStarted{config_.name, key});
    arm(kept);
    if (key.step == kBatchStep) sim_.clients.script_began(job);
}

void SimNode::arm(Stepd& stepd) {
    stepd.life = ++lives_;
    if (stepd.frozen || stepd.dying) return;
    Instant when = stepd.ends;
    if (stepd.deadline) when = std::min(when, *stepd.deadline);
    const std::uint64_t boot = boot_;
    sim_.world.at(std::max(when, sim_.world.now()),
                  [this, boot, key = stepd.key, life = stepd.life] {
                      if (boot_ == boot) stepd_timer(key, life);
                  });
}

// It ends by itself, or its limit has come.
void SimNode::stepd_timer(const StepKey& key, std::uint64_t life) {
    const auto found = spool_.find(key);
    if (found == spool_.end() || found->second.life != life || !found->second.alive) return;
    Stepd& stepd = found->second;
    core::StepReport report;
    RunTruth truth;
    truth.launched = true;
    if (stepd.ends <= sim_.world.now()) {
        report.exit = truth.exit = stepd.exit;
        truth.ended_itself = true;
    } else {
        report.timed_out = truth.timed_out = true;
        report.exit.signal = 15;
    }
    stepd.alive = false;
    sim_.checker.over(config_.name, key, truth);
    end(stepd, report);
}

void SimNode::terminate(Stepd& stepd, Seconds grace) {
    if (!stepd.alive || stepd.dying) return;
    stepd.dying = true;
    const auto patience = static_cast<std::uint32_t>(grace.count() * 1000);
    const std::uint64_t boot = boot_;
    sim_.world.after(Millis{sim_.world.random.below(patience + 50)}, [this, boot, key = stepd.key] {
        const auto found = spool_.find(key);
        if (boot_ != boot || found == spool_.end() || !found->second.alive) return;
        RunTruth truth;
        truth.launched = truth.killed = true;
        sim_.checker.over(config_.name, key, truth);
        found->second.alive = false;
        core::StepReport killed;
        killed.exit.signal = 15;
        end(found->second, killed);
    });
}

void SimNode::end(Stepd& stepd, core::StepReport report_to_keep) {
    report_to_keep.key = stepd.key;
    report_to_keep.job_clean = !anything_left(stepd.key.job, stepd.key.attempt);
    stepd.report = report_to_keep;
    const auto entry = journal_.find({stepd.key.job, stepd.key.attempt});
    if (stepd.key.step == kBatchStep && entry != journal_.end() && !report_to_keep.lost)
        entry->second.exit = report_to_keep.exit;
    sim_.world.trace("{}: {} ends{}", config_.name, name_of(stepd.key),
                     report_to_keep.lost ? " (lost)" : "");
    if (!agent_up_) return;
    report(stepd);
    answer_clean();
}

void SimNode::report(const Stepd& stepd) {
    send(core::event::StepEnded{config_.name, *stepd.report});
}

void SimNode::answer_clean() {
    for (const auto& [job, attempt] : std::set<std::pair<JobId, Attempt>>(ending_)) {
        if (anything_left(job, attempt)) continue;
        ending_.erase({job, attempt});
        send(core::event::JobClean{config_.name, job, attempt});
    }
}

bool SimNode::anything_left(JobId job, Attempt attempt) const {
    return std::ranges::any_of(spool_, [&](const auto& entry) {
        return entry.first.job == job && entry.first.attempt == attempt && entry.second.alive;
    });
}

}  // namespace switchyard::sim
