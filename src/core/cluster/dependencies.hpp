// dependencies.hpp: --dependency. A term is judged whenever the job it names starts or ends, and
// the verdict is stored with the waiting job, so that it does not matter how long the other record
// is kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/arrays.hpp"
#include "core/cluster/name_index.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"

namespace switchyard::core {

class Dependencies {
  public:
    Dependencies(World& world, const Arrays& arrays) : world_(world), arrays_(arrays) {}

    void load(const Job& job);
    void observe(const Transition& transition);

    // Whether it may start, as far as others are concerned. What is decided is stored with it.
    model::DependencyStatus judge(Job& job);
    model::DependencyStatus judge_term(const Job& job, const model::DependencyTerm& term,
                                       std::optional<Instant>& look_again) const;
    // All records that a term speaks of.
    std::vector<const Job*> targets_of(const model::DependencyTerm& term) const;
    // Whether following the dependencies of `spec` leads to the job `id`: a circle.
    bool depends_on(const JobSpec& spec, JobId id, int depth = 0) const;
    // Whether the dependency of a waiting job names this one, or an array.
    bool is_named(JobId id) const { return dependents_.contains(id); }

    // A job waits for those that it names; not any more.
    void add_terms(const Job& job);
    void forget_terms(const Job& job);
    // A job that has not ended, by its name.
    void add_name(const Job& job);
    void remove_name(const Job& job, const std::string& name);

  private:
    // The job started or ended: whoever waits for it is judged again.
    void wake(const Job& job);
    bool has_unfinished_namesake_before(const Job& job) const;

    World& world_;
    const Arrays& arrays_;
    std::map<JobId, std::set<JobId>> dependents_;  // By job or array named in a dependency.
    NameIndex unfinished_;                         // Jobs that have not ended, by user and name.
    std::map<std::pair<std::uint32_t, std::string>, std::set<JobId>> singletons_;  // They wait.
};

}  // namespace switchyard::core
