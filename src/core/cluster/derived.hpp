// derived.hpp: what a Cluster keeps beside its records: who waits for whom, what nodes and arrays
// add up to. None of it is stored; a restart derives it anew.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/event.hpp"
#include "core/cluster/trigger_table.hpp"
#include "core/sched/node_pool.hpp"
#include "model/job.hpp"
#include "model/licenses.hpp"

namespace switchyard::core {

using sched::PartitionIndex;

// A step that found no room: either an srun waits for it, with its request, or it is a record of
// its own (srun --async), and nobody does.
struct WaitingStep {
    event::CreateStep request;
    std::optional<StepId> record = {};  // Then only this counts.
};

// Somebody who is told when steps end.
struct StepWatcher {
    Token token;
    std::optional<StepId> step;
};

// What is known of a job beyond its record; only for jobs that run, are waited for, or are owned.
struct JobSide {
    std::optional<Token> owner;
    std::set<StepId> active_steps;   // Of the present attempt.
    std::set<StepId> launched_here;  // Launched by this process: may be told to nodes again.
    std::set<std::pair<StepId, std::string>> seen;  // (step, node) known to have begun.
    std::set<std::pair<StepId, std::string>>
        doubted;  // Not listed by its node, and not ours to relaunch.
    std::vector<WaitingStep> waiting_steps;
    std::vector<StepWatcher> watchers;
    std::uint32_t launch_failures = 0;
    bool prolog_ended = false;                  // PrologSlurmctld of the present attempt, well.
    std::uint8_t mailed = 0;                    // Time-limit mails sent: bits 50, 80, 90, 100 %.
    std::map<std::string, Instant> idle_nodes;  // Where its cards stand idle, and since when,
    Attempt idle_attempt;                       // in this run.
};

struct NodeSide {
    std::set<JobId> jobs;  // Those that hold something here.
    std::optional<Instant> silent_since;
    // Runs that the node still has but we had given up: it takes no new job before they are gone.
    std::set<std::pair<JobId, Attempt>> ghosts;
    // The records are a backup, and the node has not said yet what it began since: nothing is
    // launched on it. What it listed when it registered waits for that.
    bool owes_journal = false;
    std::optional<std::vector<StepKey>> listed;
    bool retired = false;  // No longer configured; kept until its jobs have left.
    NodeGlance glance;     // As the triggers last saw it; kept while there are any.
};

struct TokenRole {
    std::set<JobId> owns, waits_for, steps_of, ends_of;
};

struct ArraySide {
    std::set<JobId> records;
    std::set<JobId> pending;    // Those of them that wait.
    std::uint32_t running = 0;  // Elements that hold resources.
    int worst_wait = 0;
    int least_wait = 0;
    bool any_ended = false, any_failed = false;
};

// By what a repeated submission is recognised, and the job it made.
struct Nonce {
    std::uint64_t value = 0;
    std::uint32_t uid = 0;
    JobId job;
    auto operator<=>(const Nonce&) const = default;
};

// One time of a reservation.
struct Occurrence {
    Instant start{}, end{};
};

// What a reservation could have of a node.
struct CoreOffer {
    sched::NodeIndex node = 0;
    std::size_t place = 0;  // Among those that were looked at.
    model::IndexSet open{};
    bool has_jobs = false;  // That are still there when it begins.
};

}  // namespace switchyard::core
