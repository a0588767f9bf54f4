// batch.hpp: what one transaction writes. Records are encoded by the owner's thread into rows: the
// few columns a person wants to read in the database, and the whole record as one message beside
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.hpp"
#include "model/job.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"
#include "model/reservation.hpp"
#include "model/step.hpp"
#include "model/trigger.hpp"

namespace switchyard::store {

struct JobRow {
    JobId id;
    Attempt attempt;  // Only of past runs.
    std::optional<JobId> array_id;
    std::optional<std::string> element;  // "3", or "3-8%2" while the record stands for several.
    std::uint32_t uid = 0;
    std::string user, name, partition;
    std::string state;             // "RUNNING"
    std::int64_t submit_time = 0;  // Seconds since the epoch.
    std::optional<std::int64_t> start_time, end_time;
    std::optional<std::string> exit_code;  // "1:0"
    std::string record;
};

struct StepRow {
    StepKey key;
    std::string name, state;
    std::int64_t start_time = 0;
    std::optional<std::int64_t> end_time;
    std::optional<std::string> exit_code;
    std::string record;
};

struct NodeRow {
    std::string name, state, reason;
    std::string record;
};

struct PartitionRow {
    std::string name, state;
    std::string record;
};

struct TriggerRow {
    std::uint32_t id = 0;
    std::string user, program;
    std::string record;
};

struct ReservationRow {
    std::string name;
    std::int64_t start_time = 0, end_time = 0;
    std::string nodes;  // "n[1-4]"
    std::string record;
};

struct PayloadRow {
    JobId job;
    std::shared_ptr<const std::string>
        record;  // An encoded wire::JobPayload; shared, it may be large.
};

// What a step of srun --async runs. It has no srun that could say it again.
struct StepLaunchRow {
    StepKey key;
    std::shared_ptr<const std::string> record;  // An encoded wire::StepLaunch.
};

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
    std::vector<JobRow> jobs;
    std::vector<JobRow> past_runs;  // Of jobs that were requeued.
    std::vector<StepRow> steps;
    std::vector<NodeRow> nodes;
    std::vector<PartitionRow> partitions;
    std::vector<ReservationRow> reservations;
    std::vector<PayloadRow> payloads;  // The first that is stored for a job stays.
    std::vector<StepLaunchRow> step_launches;
    std::optional<JobId> next_job_id;
    std::vector<TriggerRow> triggers;
    std::optional<std::uint32_t> next_reservation_id;

    std::vector<std::string> deleted_nodes;       // Nothing is known of them any more.
    std::vector<std::string> deleted_partitions;  // Remembered as deleted.
    std::vector<std::string> reset_partitions;    // Back to what the configuration says.
    std::vector<std::uint32_t> deleted_triggers;
    std::vector<std::string> deleted_reservations;
    std::vector<JobId> deleted_payloads;
    std::vector<StepKey> deleted_step_launches;
    std::vector<KeptPayload> kept_payloads;
    std::optional<Purge> purge;
    bool restore_is_over = false;  // All that a restored backup did not know has been asked.

    bool empty() const { return size() == 0; }
    std::size_t size() const;  // Rows that are written or deleted; a purge counts as one.
};

// Takes what is to be written of these jobs out again.
void leave_out(Batch& batch, const std::vector<JobId>& jobs);

// Rows of many jobs. It keeps the message it encodes with, so that a burst of submissions does not
// pay for hundreds of small allocations each.
class RowEncoder {
  public:
    RowEncoder();
    ~RowEncoder();
    JobRow to_row(const model::Job& job);

  private:
    struct Scratch;
    std::unique_ptr<Scratch> scratch_;
};

JobRow to_row(const model::Job& job);
StepRow to_row(const model::Step& step);
NodeRow to_row(const model::Node& node);
PartitionRow to_row(const model::Partition& partition);
TriggerRow to_row(const model::Trigger& trigger);
ReservationRow to_row(const model::Reservation& reservation);

}  // namespace switchyard::store
