// batch.hpp: what one transaction writes: rows, made by the owner's thread, and a few numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"
#include "model/records.hpp"
#include "store/rows.hpp"

namespace switchyard::store {

// What may go: jobs, and steps, that ended before these. Some thousand at a time, so that a commit
// is never held up for long.
struct Purge {
    std::optional<std::int64_t> jobs_before, steps_before;  // Seconds since the epoch.
};

// A payload that outlives its job, without the parts that nobody asked to keep.
struct KeptPayload {
    JobId job;
    bool script = false, environment = false;
};

struct Batch {
    std::vector<Row> rows;  // In this order; each that is written or goes, one row.
    std::optional<JobId> next_job_id;
    std::optional<std::uint32_t> next_reservation_id;
    // The highest that is told of. The number of a trigger that is gone is not given again.
    std::uint32_t last_trigger_id = 0;
    std::vector<KeptPayload> kept_payloads;
    std::optional<Purge> purge;
    bool restore_is_over = false;  // All that a restored backup did not know has been asked.

    // All that changed, by the encoder.
    void add(const model::RecordChanges& changes, RowEncoder& encoder);
    void put_payload(JobId job, Bytes record);  // The first that is stored for a job stays.
    void drop_payload(JobId job);
    void put_step_launch(const StepKey& key, Bytes record);
    void drop_step_launch(const StepKey& key);

    bool empty() const { return size() == 0; }
    std::size_t size() const;  // Rows that are written or deleted; a purge counts as one.
};

// Takes what is to be written of these jobs out again.
void leave_out(Batch& batch, const std::vector<JobId>& jobs);

}  // namespace switchyard::store
