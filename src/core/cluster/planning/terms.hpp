// terms.hpp: where a job could start now and on what terms: how long it may stay, in which advance
// reservation it runs, and with which licenses.
#pragma once

#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/sched/placement.hpp"
#include "core/sched/room.hpp"
#include "core/sched/windows.hpp"
#include "model/job_spec.hpp"
#include "model/licenses.hpp"
#include "model/resources.hpp"

namespace switchyard::core {

// How long a job may stay, as plans count it.
inline Seconds limit_of(const model::JobSpec& spec) {
    const bool limited = spec.time_limit && !spec.time_limit->unlimited;
    return limited ? spec.time_limit->seconds : sched::kForever;
}

struct Terms {
    sched::WindowOwner owner = sched::kNobody;
    std::vector<model::License> licenses;
};

// Where one job, or a component of one, fits now.
struct FoundPlace {
    JobId job;
    sched::PartitionIndex partition = 0;
    model::Allocation allocation;
    Terms terms;
};

}  // namespace switchyard::core
