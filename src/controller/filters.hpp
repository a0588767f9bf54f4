// filters.hpp: which jobs a query means.
#pragma once

#include "base/result.hpp"
#include "core/cluster/event.hpp"
#include "model/job.hpp"

namespace switchyard::wire {
class JobFilter;
class JobsQuery;
}  // namespace switchyard::wire

namespace switchyard::controller {

Result<core::event::JobFilter> to_filter(const wire::JobFilter& message);

// Everything but the ids, which are looked up, not compared.
bool matches(const core::event::JobFilter& filter, const model::Job& job);

// The filter, and what a query shows when no states are named: jobs that have not finished.
struct JobMatcher {
    core::event::JobFilter filter;
    bool all_states = false;
    bool operator()(const model::Job& job) const;
};

}  // namespace switchyard::controller
