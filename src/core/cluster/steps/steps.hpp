// steps.hpp: the steps of jobs that run: asked for and laid out (steps.cpp, step_layout.cpp), begun
// and over node by node (active_steps.cpp), waiting for room (queued_steps.cpp), looked on at
// (step_watch.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "core/cluster/het_jobs.hpp"
#include "core/cluster/nodes/restore.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/waiters.hpp"
#include "core/cluster/world.hpp"
#include "model/layout.hpp"

namespace switchyard::core {

class Steps {
  public:
    Steps(World& world, const HetJobs& hets, const Nodes& nodes, const Restore& restore,
          Waiters& waiters)
        : world_(world), hets_(hets), nodes_(nodes), restore_(restore), waiters_(waiters) {}

    // --- steps.cpp
    void on(const event::CreateStep& event);
    // In the order in which they came; one that fits does not wait for one that does not.
    void retry_waiting(JobId job);
    // Nobody is behind the token any more.
    void token_gone(Token token, const std::set<JobId>& jobs);

    // --- active_steps.cpp
    void load(const Job& job);
    void observe(const Transition& transition);
    void check() const;
    // The batch script is a step like any other: one task on the first node.
    void begin_batch(const Job& job);
    // What a node hears of late, while the job is suspended, stands still from the beginning. One
    // that has to say first what it began is told afterwards.
    void launch_on(const std::string& node, const StepKey& key);
    const std::set<StepId>& active(JobId job) const;
    bool runs_on(const Job& job, const std::string& node) const;
    // Its node has said that it began.
    void seen(const StepKey& key, const std::string& node);
    bool was_seen(const StepKey& key, const std::string& node) const;
    bool was_launched_here(const StepKey& key) const;
    // Its node does not list it, and only its srun can launch it again: it has a while for that.
    void doubt(const StepKey& key, const std::string& node);
    void give_up_doubted(const Job& job);
    void ended_on(const Job& job, model::Step& step, const std::string& node,
                  const StepReport& report);
    // Nothing of the job is left on this node, so its steps there are over whether or not they said
    // so.
    void close_on(const Job& job, const std::string& node);
    model::ExitStatus worst_exit(const Job& job) const;
    // A backup may be older than steps that its job has had since: their numbers are not given
    // again.
    void number_beyond(Job& job, StepId step);

    // --- queued_steps.cpp
    void end_queued(const StepKey& key, model::JobState state);
    // The run is over.
    void refuse_waiting(const Job& job);

    // --- step_watch.cpp
    void on(const event::WaitForSteps& event);

  private:
    enum class Try { Made, Busy, Refused };
    // Where the part of a step in one job goes.
    struct Plan {
        model::StepLayout layout;
        std::string ports;
        std::optional<model::HetStep> het;
    };
    // A step that found no room: either an srun waits for it, with its request, or it is a record
    // of its own (srun --async), and nobody does.
    struct Waiting {
        event::CreateStep request;
        std::optional<StepId> record = {};  // Then only this counts.
    };
    // What is known of the steps of the present attempt beyond their records.
    struct Side {
        std::set<StepId> active;
        std::set<StepId> launched_here;  // By this process: may be told to nodes again.
        std::set<std::pair<StepId, std::string>> seen;     // (step, node) known to have begun.
        std::set<std::pair<StepId, std::string>> doubted;  // Not listed, and not ours to relaunch.
        std::vector<Waiting> waiting;
    };
    Side* find_side(JobId job);
    const Side* find_side(JobId job) const;
    void forget(JobId job);
    // The run is over, and the job waits for another.
    void run_is_over(JobId job);

    // --- steps.cpp
    Try try_step(const event::CreateStep& event, bool first_time);
    Result<std::vector<Plan>> plan(const event::CreateStep& event) const;
    Result<std::vector<Plan>> plan_parts(const event::CreateStep& event) const;
    Status may_step(const event::CreateStep& event) const;
    bool has_numbers_left(const event::CreateStep& event) const;
    Result<std::string> reserve_ports(const model::StepSpec& spec,
                                      const model::StepLayout& layout) const;
    bool answer_repeated(const event::CreateStep& event);
    std::vector<StepKey> record(const event::CreateStep& event);
    void begin(model::Step& step, Plan plan);
    void launch(const StepKey& key);
    // --- step_layout.cpp
    Result<model::StepLayout> lay_out(const Job& job, const event::CreateStep& event) const;
    // --- queued_steps.cpp
    void queue(const event::CreateStep& event);
    std::vector<StepKey> parts_of(const StepKey& key) const;
    event::CreateStep queued_request(const std::vector<StepKey>& parts) const;
    Try try_queued(const StepKey& key);
    void waits_no_more(const StepKey& key);
    void check_queued() const;
    // --- step_watch.cpp
    bool has_steps(JobId job) const;
    bool has_step(JobId job, StepId step) const;
    void tell_watchers(const StepKey& ended);

    World& world_;
    const HetJobs& hets_;
    const Nodes& nodes_;
    const Restore& restore_;
    Waiters& waiters_;
    std::map<JobId, Side> sides_;
};

}  // namespace switchyard::core
