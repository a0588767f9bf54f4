#include "store/rows.hpp"

#include <algorithm>

#include "model/hostlist.hpp"
#include "wire/codec.hpp"

namespace switchyard::store {
namespace {

constexpr bool kinds_are_in_order() {
    for (std::size_t i = 0; i < std::size(kKinds); ++i) {
        if (kKinds[i].kind != static_cast<Kind>(i)) return false;
    }
    return std::size(kKinds) == static_cast<std::size_t>(Kind::StepLaunch) + 1;
}
static_assert(kinds_are_in_order());

template <class Message, class Value>
Bytes encoded(const Value& value) {
    Message message;
    wire::encode(value, &message);
    return std::make_shared<const std::string>(message.SerializeAsString());
}

Column seconds(const std::optional<Instant>& instant) {
    if (!instant) return {};
    return unix_seconds(*instant);
}

// Only a job that has left all its nodes has ended: what still completes must be loaded again after
// a restart, however long ago its processes ended.
Column end_time(const model::Job& job) {
    const auto* ended = std::get_if<model::Ended>(&job.phase);
    if (ended == nullptr) return {};
    return unix_seconds(ended->ended);
}

Column array_id(const model::Job& job) {
    if (!job.array) return {};
    return std::int64_t{job.array->array_id.value};
}

// "3", or "3-8%2" while the record stands for several.
Column element(const model::Job& job) {
    if (!job.array) return {};
    return job.array->element ? std::to_string(*job.array->element)
                              : model::format_pending_elements(*job.array, 80);
}

Column exit_code(const model::Job& job) {
    const model::Outcome* outcome = model::outcome_of(job);
    if (outcome == nullptr) return {};
    return to_string(outcome->exit);
}

// What both tables of jobs have of whose it is and what became of it.
void add_facts(const model::Job& job, Columns& to) {
    to.emplace_back(std::int64_t{job.spec->uid});
    to.emplace_back(job.spec->user);
    to.emplace_back(job.spec->name);
    to.emplace_back(job.partition);
    to.emplace_back(std::string(model::long_name(model::state_of(job))));
    to.emplace_back(unix_seconds(job.submitted));
    to.push_back(seconds(model::start_of(job)));
    to.push_back(end_time(job));
}

}  // namespace

std::optional<JobId> Row::job() const {
    if (!is_of_job(kind)) return std::nullopt;
    return JobId{static_cast<std::uint32_t>(std::get<std::int64_t>(columns.front()))};
}

Columns key_columns(JobId id) { return {std::int64_t{id.value}}; }
Columns key_columns(const StepKey& key) {
    return {std::int64_t{key.job.value}, std::int64_t{key.attempt.value},
            std::int64_t{key.step.value}};
}
Columns key_columns(const std::string& name) { return {name}; }
Columns key_columns(std::uint32_t id) { return {std::int64_t{id}}; }

struct RowEncoder::Scratch {
    wire::Job message;
};

RowEncoder::RowEncoder() : scratch_(std::make_unique<Scratch>()) {}
RowEncoder::~RowEncoder() = default;

Bytes RowEncoder::encoded(const model::Job& job) {
    scratch_->message.Clear();
    wire::encode(job, &scratch_->message);
    return std::make_shared<const std::string>(scratch_->message.SerializeAsString());
}

Row RowEncoder::row(const model::Job& job) {
    Row row{.kind = Kind::Job, .columns = {}, .record = encoded(job)};
    row.columns.reserve(static_cast<std::size_t>(info_of(Kind::Job).columns));
    row.columns = {std::int64_t{job.id.value}, array_id(job), element(job)};
    add_facts(job, row.columns);
    row.columns.push_back(exit_code(job));
    return row;
}

Row RowEncoder::past_run(const model::Job& job) {
    Row row{.kind = Kind::PastRun, .columns = {}, .record = encoded(job)};
    row.columns = {std::int64_t{job.id.value}, std::int64_t{job.attempt.value}, array_id(job)};
    add_facts(job, row.columns);
    return row;
}

Row RowEncoder::row(const model::Step& step) {
    Row row{.kind = Kind::Step,
            .columns = key_columns(step.key),
            .record = store::encoded<wire::Step>(step)};
    row.columns.insert(row.columns.end(),
                       {step.spec.name, std::string(model::long_name(model::state_of(step))),
                        unix_seconds(std::max(step.started, step.submitted)),
                        step.end ? Column(unix_seconds(step.end->ended)) : Column(),
                        step.end ? Column(to_string(step.end->exit)) : Column()});
    return row;
}

Row RowEncoder::row(const model::Node& node) {
    return {.kind = Kind::Node,
            .columns = {node.config.name, model::full_state(node),
                        node.mark ? node.mark->reason : std::string()},
            .record = store::encoded<wire::Node>(node)};
}

// One that is deleted has no more than its name.
Row RowEncoder::row(const model::PartitionRecord& record) {
    const model::Partition& partition = record.partition;
    if (record.deleted) {
        return {.kind = Kind::PartitionRecord,
                .columns = {partition.name, std::string("DELETED"), std::int64_t{1}},
                .record = std::make_shared<const std::string>()};
    }
    return {.kind = Kind::PartitionRecord,
            .columns = {partition.name, std::string(to_string(partition.state)), std::int64_t{0}},
            .record = store::encoded<wire::Partition>(partition)};
}

Row RowEncoder::row(const model::Trigger& trigger) {
    return {.kind = Kind::Trigger,
            .columns = {std::int64_t{trigger.id}, trigger.user, trigger.program},
            .record = store::encoded<wire::Trigger>(trigger)};
}

Row RowEncoder::row(const model::Reservation& reservation) {
    return {.kind = Kind::Reservation,
            .columns = {reservation.name, unix_seconds(reservation.start),
                        unix_seconds(reservation.end), model::compress_hostlist(reservation.nodes)},
            .record = store::encoded<wire::Reservation>(reservation)};
}

}  // namespace switchyard::store
