// waiters.hpp: who waits for an answer. An allocation is owned by the salloc or srun that asked for
// it; sbatch --wait only wants to know the end; an srun waits for room for its step; swait looks on
// while steps end. All of them are known by the token of their request.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/cluster/arrays.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {

// What one token stands for, job by job.
struct TokenRole {
    std::set<JobId> owns, waits_for, steps_of, ends_of;
};

class Waiters {
  public:
    Waiters(World& world, const Arrays& arrays) : world_(world), arrays_(arrays) {}

    void on(const event::Attach& event);
    void on(const event::WaitForEnd& event);
    // Nobody is behind the token any more. None: nobody ever was.
    std::optional<TokenRole> gone(Token token);

    // A job that was in the store: its owner has a while to come back.
    void load(const Job& job);
    void observe(const Transition& transition);
    void own(Token token, JobId job);
    std::optional<Token> owner_of(JobId job) const;
    // False: it was not the owner.
    bool disown(Token token, JobId job);
    void tell_owner(JobId job, ReplyBody body, bool last = false);
    void notify_owner(const Job& job, reply::OwnerNotice::Kind kind, const std::string& node = {});

    void wait_for_step(Token token, JobId job) { tokens_[token].steps_of.insert(job); }
    void drop(Token token, JobId job);

    // Of one step, or of all of them.
    void watch_steps(Token token, JobId job, std::optional<StepId> step);
    // `drained`: it was the last.
    void step_ended(const StepKey& ended, bool drained);

  private:
    struct StepWatcher {
        Token token;
        std::optional<StepId> step;
    };
    // The run is over, and with it all of its steps.
    void release_watchers(JobId job);
    // Over for good: tells those who wait for it, or for the array whose last element it was.
    void ended(const Job& job);
    // As if it had never been.
    void withdraw(JobId job);
    void answer(JobId id, const model::Outcome& outcome, std::uint32_t worst);
    void answer_waiters(const Job& job);

    World& world_;
    const Arrays& arrays_;
    std::map<Token, TokenRole> tokens_;
    std::map<JobId, Token> owners_;
    std::map<JobId, std::vector<Token>> waiters_;  // By job, or by array.
    std::map<JobId, std::vector<StepWatcher>> watchers_;
};

}  // namespace switchyard::core
