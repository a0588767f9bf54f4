#include "wire/job_line.hpp"

#include "wire/codec_parts.hpp"
#include "wire/fields.hpp"

namespace switchyard::wire {
namespace {

std::uint32_t small(const Field& field) { return static_cast<std::uint32_t>(field.varint); }
Instant moment(const Field& field) { return instant_of(static_cast<std::int64_t>(field.varint)); }

bool read_limit(std::string_view bytes, std::optional<model::TimeLimit>& limit) {
    limit.emplace();
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            case TimeLimit::kSecondsFieldNumber:
                limit->seconds = Seconds{static_cast<std::int64_t>(field.varint)};
                break;
            case TimeLimit::kUnlimitedFieldNumber:
                limit->unlimited = field.varint != 0;
                break;
            default:
                return false;
        }
    }
    return fields.ok();
}

}  // namespace

JobLine::JobLine() : spec_(std::make_shared<model::JobSpec>()) {
    waiting_.spec = spec_;
    waiting_.phase.emplace<model::Pending>();
}

// What read_waiting() may have set; the memory of texts stays.
void JobLine::clear() {
    waiting_.id = {};
    waiting_.attempt = {};
    waiting_.restarts = waiting_.priority = 0;
    waiting_.partition.clear();
    waiting_.submitted = {};
    spec_->name.clear();
    spec_->user.clear();
    spec_->uid = 0;
    spec_->partitions.clear();
    spec_->nodes_min.reset();
    spec_->tasks.reset();
    spec_->tasks_per_node.reset();
    spec_->time_limit.reset();
    auto& pending = std::get<model::Pending>(waiting_.phase);
    pending.reason = {};
    pending.detail.clear();
    pending.hold = {};
    pending.eligible_at = {};
    pending.planned_start.reset();
    pending.special_exit = false;
}

Result<const model::Job*> JobLine::read(std::string_view bytes) {
    if (read_waiting(bytes)) return &waiting_;
    Job message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return fail(Errc::InvalidArgument, "a job that cannot be read");
    other_ = {};
    SY_CHECK(decode_into(message, other_));
    return &other_;
}

bool JobLine::read_waiting(std::string_view bytes) {
    clear();
    bool pending = false, spec = false;
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            case Job::kIdFieldNumber:
                waiting_.id.value = small(field);
                break;
            case Job::kSpecFieldNumber:
                if (spec || !read_spec(field.value)) return false;
                spec = true;
                break;
            case Job::kAttemptFieldNumber:
                waiting_.attempt.value = small(field);
                break;
            case Job::kRestartsFieldNumber:
                waiting_.restarts = small(field);
                break;
            case Job::kPriorityFieldNumber:
                waiting_.priority = small(field);
                break;
            case Job::kPartitionFieldNumber:
                waiting_.partition = field.value;
                break;
            case Job::kSubmittedFieldNumber:
                waiting_.submitted = moment(field);
                break;
            case Job::kPendingFieldNumber:
                if (pending || !read_pending(field.value)) return false;
                pending = true;
                break;
            default:
                return false;
        }
    }
    return fields.ok() && pending;
}

bool JobLine::read_spec(std::string_view bytes) {
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            case JobSpec::kNameFieldNumber:
                spec_->name = field.value;
                break;
            case JobSpec::kUidFieldNumber:
                spec_->uid = small(field);
                break;
            case JobSpec::kUserFieldNumber:
                spec_->user = field.value;
                break;
            case JobSpec::kPartitionsFieldNumber:
                spec_->partitions.emplace_back(field.value);
                break;
            case JobSpec::kNodesMinFieldNumber:
                spec_->nodes_min = small(field);
                break;
            case JobSpec::kTasksFieldNumber:
                spec_->tasks = small(field);
                break;
            case JobSpec::kTasksPerNodeFieldNumber:
                spec_->tasks_per_node = small(field);
                break;
            case JobSpec::kTimeLimitFieldNumber:
                if (spec_->time_limit || !read_limit(field.value, spec_->time_limit)) return false;
                break;
            default:
                return false;
        }
    }
    return fields.ok();
}

bool JobLine::read_pending(std::string_view bytes) {
    auto& pending = std::get<model::Pending>(waiting_.phase);
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            case Pending::kReasonFieldNumber:
                if (!read_enum(small(field), model::kReasonLast, "reason", pending.reason))
                    return false;
                break;
            case Pending::kDetailFieldNumber:
                pending.detail = field.value;
                break;
            case Pending::kHoldFieldNumber:
                if (!read_enum(small(field), model::Hold::Admin, "hold", pending.hold))
                    return false;
                break;
            case Pending::kEligibleAtFieldNumber:
                pending.eligible_at = moment(field);
                break;
            case Pending::kPlannedStartFieldNumber:
                pending.planned_start = moment(field);
                break;
            case Pending::kSpecialExitFieldNumber:
                pending.special_exit = field.varint != 0;
                break;
            default:
                return false;
        }
    }
    return fields.ok();
}

}  // namespace switchyard::wire
