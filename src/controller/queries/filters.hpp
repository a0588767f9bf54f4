// filters.hpp: which jobs a query means.
#pragma once

#include "base/result.hpp"
#include "model/job.hpp"
#include "model/job_filter.hpp"

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
Result<model::JobFilter> to_filter(const wire::JobFilter& message);

// The filter, and what a query shows when no states are named: jobs that have not finished.
struct JobMatcher {
    model::JobFilter filter;
    bool all_states = false;
    bool operator()(const model::Job& job) const;
};

}  // namespace switchyard::controller
