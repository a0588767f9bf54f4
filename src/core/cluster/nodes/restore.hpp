// restore.hpp: the records are a backup. Jobs of it may have run since it was made, so nodes are
// asked which scripts they began (event::NodeBegan), and none of these is begun again: it ended as
// the node's journal says, or, where nobody knows, as NODE_FAIL.
//
// Until all nodes have answered, or SlurmdTimeout has passed, no job of the backup starts, and what
// was submitted since starts only where the answer is known. A node that comes later is asked
// before anything is launched on it.
#pragma once

#include <optional>

#include "core/cluster/nodes/nodes.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {

class Restore {
  public:
    Restore(World& world, const Nodes& nodes) : world_(world), nodes_(nodes) {}

    void begin();
    // What is known by now has to do. False: it was over already.
    bool end();
    // A record of the backup.
    void load(JobId job);

    // Whether the records are a backup; whether nodes are still being asked.
    bool is_backup() const { return restored_at_.has_value(); }
    bool is_under_way() const { return under_way_; }
    // Whether this was begun before the backup was put back.
    bool began_before(Instant at) const { return restored_at_ && at <= *restored_at_; }

    // As it was in the backup: it has not started since.
    bool is_of_backup(const Job& job) const;
    bool waits_for_journals(const Job& job) const { return under_way_ && job.id < before_; }
    // Whether a job whose run was lost goes back into the queue. Of a run of the backup nobody can
    // say that it did not end well since.
    bool may_run_again(const Job& job) const;
    // Whether one of its nodes has to say first what it began, or to end what now has its cores.
    bool waits_for_nodes(const Job& job) const;

  private:
    World& world_;
    const Nodes& nodes_;
    std::optional<Instant> restored_at_;
    JobId before_{0};         // Jobs with lower numbers were in it.
    bool under_way_ = false;  // Jobs of the backup wait for what nodes have to say.
};

}  // namespace switchyard::core
