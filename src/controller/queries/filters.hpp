// filters.hpp: which jobs a query means.
#pragma once

#include "base/result.hpp"
#include "core/cluster/event.hpp"
#include "model/job.hpp"

namespace google::protobuf {
template <typename Element>
class RepeatedPtrField;
}

namespace switchyard::wire {
class JobFilter;
class JobSelector;
class JobsQuery;
}  // namespace switchyard::wire

namespace switchyard::controller {

// The jobs that a request names, within limits. One that names thousands may name none twice.
Result<std::vector<model::JobSelector>> to_selectors(
    const google::protobuf::RepeatedPtrField<wire::JobSelector>& messages);
// Its lists are sorted.
Result<core::event::JobFilter> to_filter(const wire::JobFilter& message);

// Everything but the ids, which are looked up, not compared. The lists must be sorted.
bool matches(const core::event::JobFilter& filter, const model::Job& job);

// The filter, and what a query shows when no states are named: jobs that have not finished.
struct JobMatcher {
    core::event::JobFilter filter;
    bool all_states = false;
    bool operator()(const model::Job& job) const;
};

}  // namespace switchyard::controller
