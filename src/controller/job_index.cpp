#include "controller/job_index.hpp"

#include <algorithm>

namespace switchyard::controller {

JobId payload_of(const model::Job& job) { return job.array ? job.array->array_id : job.id; }

void JobIndex::add(const model::Job& job) {
    const auto [it, fresh] = jobs_.try_emplace(job.id.value, Entry{job.spec->uid, payload_of(job)});
    if (!fresh) return;
    by_uid_[it->second.uid].insert(job.id);
    if (job.array) ++array_jobs_[job.array->array_id.value];
}

std::optional<JobId> JobIndex::remove(JobId job) {
    const auto it = jobs_.find(job.value);
    if (it == jobs_.end()) return std::nullopt;
    const Entry entry = it->second;
    jobs_.erase(it);
    if (const auto jobs = by_uid_.find(entry.uid); jobs != by_uid_.end()) {
        jobs->second.erase(job);
        if (jobs->second.empty()) by_uid_.erase(jobs);
    }
    const auto array = array_jobs_.find(entry.payload.value);
    if (array == array_jobs_.end()) return entry.payload;
    if (--array->second > 0) return std::nullopt;
    array_jobs_.erase(array);
    return entry.payload;
}

std::vector<JobId> JobIndex::of_users(const std::vector<std::uint32_t>& uids) const {
    std::vector<JobId> out;
    for (const std::uint32_t uid : std::set<std::uint32_t>(uids.begin(), uids.end())) {
        const auto it = by_uid_.find(uid);
        if (it != by_uid_.end()) out.insert(out.end(), it->second.begin(), it->second.end());
    }
    std::ranges::sort(out);
    return out;
}

}  // namespace switchyard::controller
