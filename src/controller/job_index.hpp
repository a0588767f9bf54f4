// job_index.hpp: which jobs in memory belong to a user, and to an array. It makes one user's ten
// jobs cost ten jobs, and says when the last job that needs a payload has gone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/ids.hpp"
#include "model/job.hpp"

namespace switchyard::controller {

class JobIndex {
  public:
    void add(const model::Job& job);  // Again: nothing changes.
    // The id under which the payload was kept, if no other job needs it.
    std::optional<JobId> remove(JobId job);

    std::vector<JobId> of_users(
        const std::vector<std::uint32_t>& uids) const;  // In the order of ids.

  private:
    struct Entry {
        std::uint32_t uid;
        JobId payload;
    };
    std::unordered_map<std::uint32_t, Entry> jobs_;
    std::map<std::uint32_t, std::set<JobId>> by_uid_;
    std::unordered_map<std::uint32_t, std::uint32_t>
        array_jobs_;  // Records of an array, for arrays only.
};

// The job under whose id the payload of this one is stored: an array shares one.
JobId payload_of(const model::Job& job);

}  // namespace switchyard::controller
