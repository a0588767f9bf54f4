// store.hpp: what makes the cluster's records outlive the controller. commit() returns only when
// the batch is on disk, whole. For a batch that found no room on the disk it may be called again
// (kFull); after any other failure the store refuses all later ones, because nothing can be
// trusted.
//
// A Store belongs to one thread at a time, a Reader to one of its own. SQLite stands behind this
// (sqlite/); a server database can.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/records.hpp"
#include "store/batch.hpp"

namespace switchyard::store {

// The code of a commit for which there was no room. It left no trace, and may be tried again.
inline constexpr Errc kFull = Errc::Busy;

struct Loaded : model::RecordLists {
    std::optional<JobId> next_job_id;
    std::optional<std::uint32_t> next_reservation_id;
    std::map<StepKey, Bytes> step_launches;
    // How often this state has been opened: one more with each controller.
    std::uint64_t epoch = 0;
    bool ended_well = false;  // The controller before came to its end.
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

}  // namespace switchyard::store
