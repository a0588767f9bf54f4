// job_timers.hpp: each job has one timer, set to the next thing that is due for it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/cluster/dependencies.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/triggers/triggers.hpp"
#include "core/cluster/world.hpp"
#include "model/mail.hpp"

namespace switchyard::core {

// Added to the time limit before the controller itself ends a job whose stepd should have done so.
inline constexpr Seconds kBackupSlack{60};
// How long a node may take over an EndJob beyond its grace before it is told again.
inline constexpr Seconds kEndJobRepeat{60};

class JobTimers {
  public:
    JobTimers(World& world, const Dependencies& dependencies, Triggers& triggers)
        : world_(world), dependencies_(dependencies), triggers_(triggers) {}

    void observe(const Transition& transition);
    // Sets its timer anew. To be called whenever something about it has changed.
    void retime(const Job& job);
    // Mail about parts of the time limit that have passed: each is due once in a run.
    std::vector<model::MailEvent> take_marks(const Job& job);

  private:
    std::optional<Instant> due(const Job& job) const;
    std::optional<Instant> pending_due(const Job& job, const model::Pending& pending) const;
    std::optional<Instant> running_due(const Job& job, const model::Running& run) const;

    World& world_;
    const Dependencies& dependencies_;
    Triggers& triggers_;
    std::map<JobId, std::uint8_t> mailed_;  // A bit for each mark that was told of.
};

}  // namespace switchyard::core
