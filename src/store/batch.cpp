#include "store/batch.hpp"

#include <algorithm>

#include "model/hostlist.hpp"
#include "wire/codec.hpp"

namespace switchyard::store {
namespace {

template <class Message, class Value>
std::string encoded(const Value& value) {
    Message message;
    wire::encode(value, &message);
    return message.SerializeAsString();
}

std::optional<std::int64_t> seconds(const std::optional<Instant>& instant) {
    if (!instant) return std::nullopt;
    return unix_seconds(*instant);
}

}  // namespace

std::size_t Batch::size() const {
    const auto sum = [](const auto&... lists) { return (lists.size() + ...); };
    return sum(jobs, past_runs, steps, nodes, partitions, reservations, payloads, step_launches,
               triggers, deleted_nodes, deleted_partitions, reset_partitions, deleted_triggers,
               deleted_reservations, deleted_payloads, deleted_step_launches, kept_payloads) +
           std::size_t{next_job_id.has_value()} + std::size_t{next_reservation_id.has_value()} +
           std::size_t{purge.has_value()} + std::size_t{restore_is_over};
}

void leave_out(Batch& batch, const std::vector<JobId>& jobs) {
    const auto is_one = [&](JobId id) { return std::ranges::find(jobs, id) != jobs.end(); };
    std::erase_if(batch.jobs, [&](const JobRow& row) { return is_one(row.id); });
    std::erase_if(batch.past_runs, [&](const JobRow& row) { return is_one(row.id); });
    std::erase_if(batch.steps, [&](const StepRow& row) { return is_one(row.key.job); });
    std::erase_if(batch.payloads, [&](const PayloadRow& row) { return is_one(row.job); });
    std::erase_if(batch.step_launches,
                  [&](const StepLaunchRow& row) { return is_one(row.key.job); });
}

struct RowEncoder::Scratch {
    wire::Job message;
};

RowEncoder::RowEncoder() : scratch_(std::make_unique<Scratch>()) {}
RowEncoder::~RowEncoder() = default;

JobRow to_row(const model::Job& job) { return RowEncoder().to_row(job); }

JobRow RowEncoder::to_row(const model::Job& job) {
    scratch_->message.Clear();
    wire::encode(job, &scratch_->message);
    JobRow row{.id = job.id,
               .attempt = job.attempt,
               .array_id = std::nullopt,
               .element = std::nullopt,
               .uid = job.spec->uid,
               .user = job.spec->user,
               .name = job.spec->name,
               .partition = job.partition,
               .state = std::string(model::long_name(model::state_of(job))),
               .submit_time = unix_seconds(job.submitted),
               .start_time = seconds(model::start_of(job)),
               .end_time = std::nullopt,
               .exit_code = std::nullopt,
               .record = scratch_->message.SerializeAsString()};
    if (job.array) {
        row.array_id = job.array->array_id;
        row.element = job.array->element ? std::to_string(*job.array->element)
                                         : model::format_pending_elements(*job.array, 80);
    }
    // Only a job that has left all its nodes has ended: what still completes must be loaded again
    // after a restart, however long ago its processes ended.
    if (const auto* ended = std::get_if<model::Ended>(&job.phase))
        row.end_time = unix_seconds(ended->ended);
    if (const model::Outcome* outcome = model::outcome_of(job))
        row.exit_code = to_string(outcome->exit);
    return row;
}

StepRow to_row(const model::Step& step) {
    StepRow row{.key = step.key,
                .name = step.spec.name,
                .state = std::string(model::long_name(model::state_of(step))),
                .start_time = unix_seconds(std::max(step.started, step.submitted)),
                .end_time = std::nullopt,
                .exit_code = std::nullopt,
                .record = encoded<wire::Step>(step)};
    if (step.end) {
        row.end_time = unix_seconds(step.end->ended);
        row.exit_code = to_string(step.end->exit);
    }
    return row;
}

NodeRow to_row(const model::Node& node) {
    return {.name = node.config.name,
            .state = model::full_state(node),
            .reason = node.mark ? node.mark->reason : std::string(),
            .record = encoded<wire::Node>(node)};
}

PartitionRow to_row(const model::Partition& partition) {
    return {.name = partition.name,
            .state = std::string(to_string(partition.state)),
            .record = encoded<wire::Partition>(partition)};
}

TriggerRow to_row(const model::Trigger& trigger) {
    return {.id = trigger.id,
            .user = trigger.user,
            .program = trigger.program,
            .record = encoded<wire::Trigger>(trigger)};
}

ReservationRow to_row(const model::Reservation& reservation) {
    return {.name = reservation.name,
            .start_time = unix_seconds(reservation.start),
            .end_time = unix_seconds(reservation.end),
            .nodes = model::compress_hostlist(reservation.nodes),
            .record = encoded<wire::Reservation>(reservation)};
}

}  // namespace switchyard::store
