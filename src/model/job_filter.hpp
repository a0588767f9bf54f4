// job_filter.hpp: which jobs a command means: scancel, squeue, sacct and what else names several.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/job.hpp"
#include "model/job_array.hpp"
#include "model/job_state.hpp"

namespace switchyard::model {

// Empty lists do not filter.
struct JobFilter {
    std::vector<JobSelector> jobs;
    std::vector<std::uint32_t> uids;
    std::vector<std::string> names, partitions, accounts, qos, nodes, reservations, wckeys;
    std::vector<JobState> states;
};

// Sorts every list but that of the jobs: each job is compared with all of them.
void sort_lists(JobFilter& filter);

// Everything but `jobs`, which are looked up, not compared. The lists must be sorted.
bool matches(const JobFilter& filter, const Job& job);

}  // namespace switchyard::model
