// rows.hpp: a record as a row: the columns that people and indexes want, its key first, and the
// whole record as one encoded message beside them. The same for every kind and for every store.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/ids.hpp"
#include "model/records.hpp"

namespace switchyard::store {

// Those of model/records.hpp, and what is kept beside records in the same way.
enum class Kind : std::uint8_t {
#define SY_KIND(Type, ...) Type,
    SY_RECORDS(SY_KIND)
#undef SY_KIND
        PastRun,  // A run of a job that was requeued.
    Payload,      // An encoded wire::JobPayload: a script and its environment.
    StepLaunch,   // An encoded wire::StepLaunch: what a step of srun --async runs.
};

struct KindInfo {
    Kind kind;
    std::string_view table;
    std::string_view key;  // Its columns, the first of the row.
    int key_columns = 1;
    int columns = 0;           // All of them, without the record.
    bool first_stays = false;  // A later record under the same key is not written.
};
inline constexpr KindInfo kKinds[] = {
    {Kind::Job, "jobs", "id", 1, 12},
    {Kind::Step, "steps", "job, attempt, step", 3, 8},
    {Kind::Node, "nodes", "name", 1, 3},
    {Kind::PartitionRecord, "partitions", "name", 1, 3},
    {Kind::Trigger, "triggers", "id", 1, 3},
    {Kind::Reservation, "reservations", "name", 1, 4},
    {Kind::PastRun, "past_runs", "id, attempt", 2, 11},
    {Kind::Payload, "payloads", "job", 1, 1, true},
    {Kind::StepLaunch, "step_launches", "job, attempt, step", 3, 3},
};
constexpr const KindInfo& info_of(Kind kind) { return kKinds[static_cast<std::size_t>(kind)]; }
// Whose first column is the id of a job.
constexpr bool is_of_job(Kind kind) {
    return kind == Kind::Job || kind == Kind::Step || kind == Kind::PastRun ||
           kind == Kind::Payload || kind == Kind::StepLaunch;
}

using Column = std::variant<std::monostate, std::int64_t, std::string>;  // Nothing, number, text.
using Columns = std::vector<Column>;
using Bytes = std::shared_ptr<const std::string>;

struct Row {
    Kind kind = Kind::Job;
    Columns columns;  // The key alone, if the record is gone.
    Bytes record;     // Null: it is gone. Shared, since it may be large.

    std::optional<JobId> job() const;  // That it is of.
};

Columns key_columns(JobId id);
Columns key_columns(const StepKey& key);
Columns key_columns(const std::string& name);
Columns key_columns(std::uint32_t id);

// Makes rows of records. It keeps the message it encodes jobs with, so that a burst of submissions
// does not pay for hundreds of small allocations each.
class RowEncoder {
  public:
    RowEncoder();
    ~RowEncoder();

    Row row(const model::Job& job);
    Row past_run(const model::Job& job);
    static Row row(const model::Step& step);
    static Row row(const model::Node& node);
    static Row row(const model::PartitionRecord& partition);
    static Row row(const model::Trigger& trigger);
    static Row row(const model::Reservation& reservation);

  private:
    Bytes encoded(const model::Job& job);
    struct Scratch;
    std::unique_ptr<Scratch> scratch_;
};

}  // namespace switchyard::store
