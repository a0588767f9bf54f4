#include "store/batch.hpp"

#include <algorithm>
#include <utility>

namespace switchyard::store {

void Batch::add(const model::RecordChanges& changes, RowEncoder& encoder) {
    rows.reserve(rows.size() + changes.jobs.size() + changes.steps.size());
#define SY_ADD(Type, plural, Key, key)                                                             \
    for (const auto& [id, record] : changes.plural) {                                              \
        rows.push_back(record ? encoder.row(*record) : Row{Kind::Type, key_columns(id), nullptr}); \
    }
    SY_CLUSTER_RECORDS(SY_ADD)
#undef SY_ADD
    // Nobody forgets a job by a change: null is one that never was.
    for (const auto& [id, job] : changes.jobs) {
        if (job) rows.push_back(encoder.row(*job));
    }
    for (const model::Job& run : changes.past_runs) rows.push_back(encoder.past_run(run));
    for (const auto& [key, step] : changes.steps) {
        if (step) rows.push_back(encoder.row(*step));
    }
    for (const auto& [id, trigger] : changes.triggers)
        last_trigger_id = std::max(last_trigger_id, id);
    if (changes.next_job_id) next_job_id = changes.next_job_id;
    if (changes.next_reservation_id) next_reservation_id = changes.next_reservation_id;
}

void Batch::put_payload(JobId job, Bytes record) {
    rows.push_back({Kind::Payload, key_columns(job), std::move(record)});
}
void Batch::drop_payload(JobId job) { rows.push_back({Kind::Payload, key_columns(job), nullptr}); }
void Batch::put_step_launch(const StepKey& key, Bytes record) {
    rows.push_back({Kind::StepLaunch, key_columns(key), std::move(record)});
}
void Batch::drop_step_launch(const StepKey& key) {
    rows.push_back({Kind::StepLaunch, key_columns(key), nullptr});
}

std::size_t Batch::size() const {
    return rows.size() + kept_payloads.size() + std::size_t{next_job_id.has_value()} +
           std::size_t{next_reservation_id.has_value()} + std::size_t{purge.has_value()} +
           std::size_t{restore_is_over};
}

void leave_out(Batch& batch, const std::vector<JobId>& jobs) {
    std::erase_if(batch.rows, [&](const Row& row) {
        const auto job = row.job();
        return job && row.record && std::ranges::find(jobs, *job) != jobs.end();
    });
}

}  // namespace switchyard::store
