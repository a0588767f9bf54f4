// world.hpp: what every owner in this folder needs: the settings and the time, the records and the
// pool of nodes, and where effects and changes go.
//
// An owner is a class with private state that holds a World& and references to the few other owners
// it uses. The records are the truth; what an owner keeps beside them is derived, and is rebuilt
// after a restart.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errc.hpp"
#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/cluster/agenda.hpp"
#include "core/cluster/effect.hpp"
#include "core/cluster/event.hpp"
#include "core/cluster/figures.hpp"
#include "core/cluster/job_table.hpp"
#include "core/cluster/settings.hpp"
#include "core/cluster/timers.hpp"
#include "core/sched/node_pool.hpp"
#include "model/job.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"
#include "model/rights.hpp"
#include "model/step.hpp"

namespace switchyard::core {

using model::Job;
using model::JobSpec;
using sched::NodeIndex;
using sched::PartitionIndex;

struct World {
    World(Settings configured, Instant at, JobKeeping keeping)
        : settings(std::move(configured)), now(at), jobs(std::move(keeping)) {}
    World(const World&) = delete;

    Settings settings;
    Instant now{};

    // Records.
    JobTable jobs;
    std::map<StepKey, model::Step> steps;
    std::vector<model::Node> nodes;  // By NodeIndex: in configuration order.
    std::vector<model::Partition> partitions;
    JobId next_job_id{1};

    // Who holds what of each node.
    sched::NodePool pool;

    // What is due when, and which jobs are to be looked at again.
    Timers timers;
    Agenda agenda;

    // Output.
    std::vector<Effect> effects;
    Changes changes;
    SchedulerFigures figures;

    // A record is to be written.
    void touch(const Job& job) { changes.jobs.insert(job.id); }
    void touch(const model::Step& step) { changes.steps.insert(step.key); }
    void touch_node(NodeIndex node) { changes.nodes.insert(nodes[node].config.name); }
    // Before one leaves memory: what was touched of it is still to be written.
    void keep_last(const Job& job) {
        if (changes.jobs.contains(job.id))
            changes.jobs.put(job.id, std::make_shared<const Job>(job));
    }
    void keep_last(const model::Step& step) {
        if (changes.steps.contains(step.key))
            changes.steps.put(step.key, std::make_shared<const model::Step>(step));
    }
    template <class E>
    void emit(E effect) {
        effects.emplace_back(std::move(effect));
    }
    void reply(Token token, ReplyBody body, bool last = true);
    void refuse(Token token, Errc code, std::vector<std::string> notes = {});

    JobId take_job_id();
    void replace_spec(Job& job, const JobSpec& spec);

    // Null, or none: there is no such record.
    Job* find_job(JobId id) { return jobs.get(id); }
    const Job* find_job(JobId id) const { return jobs.get(id); }
    std::optional<NodeIndex> node_index(std::string_view name) const { return pool.find(name); }
    std::optional<PartitionIndex> partition_index(std::string_view name) const;
    const model::Partition* partition_of(const Job& job) const;
    // When its nodes are to end it: its time limit and the site's OverTimeLimit; none: unlimited.
    std::optional<Instant> deadline_of(const Job& job) const;

    model::Rights rights_of(const Caller& caller) const;
};

}  // namespace switchyard::core
