// store.hpp: what makes the cluster's records outlive the controller. commit() returns only when
// the batch is on disk, whole. For a batch that found no room on the disk it may be called again
// (kFull); after any other failure the store refuses all later ones, because nothing can be
// trusted.
//
// A Store belongs to one thread at a time, a Reader to one of its own. SQLite stands behind this
// (sqlite_store.cpp); a server database can.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"
#include "model/job.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"
#include "model/reservation.hpp"
#include "model/step.hpp"
#include "model/trigger.hpp"
#include "store/batch.hpp"

namespace switchyard::store {

// The code of a commit for which there was no room. It left no trace, and may be tried again.
inline constexpr Errc kFull = Errc::Busy;

struct Loaded {
    std::vector<model::Node> nodes;
    std::vector<model::Partition> partitions;
    std::vector<std::string> deleted_partitions;
    std::optional<JobId> next_job_id;
    std::vector<model::Trigger> triggers;
    std::uint32_t last_trigger_id = 0;  // Of those that are gone too.
    std::vector<model::Reservation> reservations;
    std::optional<std::uint32_t> next_reservation_id;
    std::vector<StepLaunchRow> step_launches;
    std::uint64_t epoch =
        0;  // How often this state has been opened: one more with each controller.
    bool ended_well = false;  // The controller before came to its end.
    bool restored = false;    // A backup, of which not all is known yet (Batch::restore_is_over).
};

// Jobs that were ever submitted. Empty lists and unset bounds do not filter.
struct HistoryQuery {
    std::vector<JobId> jobs{};  // Of a job or of its array.
    std::vector<std::uint32_t> uids{};
    std::vector<std::string> users{}, names{};
    // These two only of jobs that have ended: where and how others are is known better in memory.
    std::vector<std::string> partitions{}, states{};
    std::optional<Instant> from{};  // Not ended before this.
    std::optional<Instant> to{};    // Submitted by this.
    bool ended_only = false;        // And ended by `to`; those too that only have to leave nodes.
    bool past_runs = false;         // Jobs too of which only an earlier run is meant.
};

struct HistoryChunk {
    std::vector<model::Job> jobs;
    std::vector<model::Step> steps;
};

class Reader {
  public:
    virtual ~Reader() = default;
    // An encoded wire::JobPayload; none if the job has none (any more).
    virtual Result<std::optional<std::string>> payload(JobId job) = 0;
    // Which jobs, in the order of their ids; then their records, a part at a time, so that a long
    // list holds up neither this thread nor memory.
    virtual Result<std::vector<JobId>> find(const HistoryQuery& query) = 0;
    // Past runs stand before the job that they are of.
    virtual Result<HistoryChunk> fetch(std::span<const JobId> jobs, bool with_steps,
                                       bool past_runs = false) = 0;
};

class Store {
  public:
    virtual ~Store() = default;

    // Everything but jobs.
    virtual Result<Loaded> load() = 0;
    // Jobs that have not ended, or ended no earlier than `ended_since`, in the order of their ids,
    // each with its steps. Payloads of all others go.
    using TakeJob = std::function<void(model::Job, std::vector<model::Step>)>;
    virtual Status load_jobs(Instant ended_since, const TakeJob& take) = 0;
    // All of the batch in one transaction.
    virtual Status commit(const Batch& batch) = 0;
    // The same, unless it would have to wait for another process or to put the files in order,
    // which the next commit() does: then it is false, and nothing has happened.
    virtual Result<bool> try_commit(const Batch& batch) = 0;
    // Whether the last purge left something to be purged.
    virtual bool purge_is_due() const = 0;
    virtual Result<std::optional<std::string>> payload(JobId job) = 0;
    // Moves all that is known of a job, or of an array and its elements, out of the way of load(),
    // or back. NotFound: there is none such.
    virtual Status set_aside(JobId job) = 0;
    virtual Status put_back(JobId job) = 0;
    // Sees everything committed before each of its calls.
    virtual Result<std::unique_ptr<Reader>> open_reader() = 0;
};

// What is expected to be found.
enum class Opening : std::uint8_t {
    Usual,     // The database as the last controller left it.
    Cleared,   // None: it was moved aside on purpose.
    Restored,  // A backup: older than what was written meanwhile.
};

struct SqliteOptions {
    Opening opening = Opening::Usual;
    bool has_run_before = false;  // So there must be a database, unless it was cleared.
    std::optional<std::uint32_t>
        pages_max{};             // Refuse to grow beyond so many pages; for tests of a full disk.
    bool keep_payloads = false;  // Those too of jobs that ended long ago.
    // Copy the log into the database when it has so many pages. More than SQLite's own 1,000: a
    // burst of submissions then pays for fewer copies.
    int log_pages_max = 8192;
};

// Keeps other controllers out for as long as it lives: Errc::Busy if one holds it.
Result<io::Fd> lock_database(const std::string& path);

// Opens (or makes) the database and locks it.
Result<std::unique_ptr<Store>> open_sqlite(const std::string& path,
                                           const SqliteOptions& options = {});

// Looks at every page over a connection of its own, for a thread of its own. Opening looks at all
// of a small database, and of a large one only at what it needs.
Status check_whole(const std::string& path, const std::atomic<bool>& stop);

}  // namespace switchyard::store
