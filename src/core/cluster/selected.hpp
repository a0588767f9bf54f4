// selected.hpp: the loop that hold, release, requeue, suspend, update and top share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

// Acts on every record the selectors name (splitting named elements off their block first) and
// collects what went wrong. Of a whole array, elements that are in the wrong state are no problem
// while others were served.
template <class Act>
reply::Done Cluster::Impl::for_each_selected(const std::vector<model::JobSelector>& selectors,
                                             const Caller& caller, Act act) {
    reply::Done done;
    for (const model::JobSelector& selector : selectors) {
        const std::vector<const Job*> found = arrays_.find(selector);
        if (found.empty()) {
            std::string text = std::to_string(selector.job.value);
            if (selector.elements) text += "_" + to_string(*selector.elements);
            done.problems.push_back({text, Errc::InvalidJobId});
            continue;
        }
        const bool allowed = rights_of(caller).may_change_job(found.front()->spec->uid);
        const std::vector<JobId> ids = select(selector, allowed);
        std::vector<reply::Done::Problem> problems;
        bool served = false;
        for (const JobId id : ids) {
            Job& job = jobs_.at(id);
            ++done.matched;
            const std::string name = model::display_id(job);
            const Operation operation(*this);
            const std::optional<Errc> problem =
                allowed ? act(job) : std::optional(Errc::AccessDenied);
            if (problem) {
                problems.push_back({name, *problem});
            } else {
                done.touched.push_back(name);
                served = true;
            }
        }
        if (served && ids.size() > 1) continue;
        done.problems.insert(done.problems.end(), problems.begin(), problems.end());
    }
    return done;
}

}  // namespace switchyard::core
