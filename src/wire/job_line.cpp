#include "wire/job_line.hpp"

#include "wire/codec_parts.hpp"
#include "wire/fields.hpp"

namespace switchyard::wire {
namespace {

std::uint32_t small(const Field& field) { return static_cast<std::uint32_t>(field.varint); }
Instant moment(const Field& field) { return instant_of(static_cast<std::int64_t>(field.varint)); }

// Jobs that stand beside each other in a list have most of their texts in common.
void set(std::string& to, std::string_view text) {
    if (to != text) to = text;
}

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

bool read_request(std::string_view bytes, model::GresRequest& request) {
    request.count = 0;
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            case GresRequest::kNameFieldNumber:
                request.name = field.value;
                break;
            case GresRequest::kTypeFieldNumber:
                request.type = field.value;
                break;
            case GresRequest::kCountFieldNumber:
                request.count = field.varint;
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

Result<const model::Job*> JobLine::read(std::string_view bytes) {
    if (read_waiting(bytes)) return &waiting_;
    Job message;
    if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return fail(Errc::InvalidArgument, "a job that cannot be read");
    other_ = {};
    SY_CHECK(decode_into(message, other_));
    return &other_;
}

// Here and below everything is set, whatever was there before; the memory of texts stays.
bool JobLine::read_waiting(std::string_view bytes) {
    std::string_view partition;
    bool pending = false, spec = false;
    waiting_.id = {};
    waiting_.attempt = {};
    waiting_.restarts = waiting_.priority = 0;
    waiting_.submitted = {};
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
                partition = field.value;
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
    set(waiting_.partition, partition);
    if (!spec) read_spec({});
    return fields.ok() && pending;
}

bool JobLine::read_spec(std::string_view bytes) {
    std::string_view name, user;
    std::size_t partitions = 0;
    spec_->uid = 0;
    spec_->nodes_min.reset();
    spec_->tasks.reset();
    spec_->tasks_per_node.reset();
    spec_->time_limit.reset();
    spec_->begin.reset();
    spec_->gres_per_node.clear();
    spec_->gpus_per_job.clear();
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            case JobSpec::kNameFieldNumber:
                name = field.value;
                break;
            case JobSpec::kUidFieldNumber:
                spec_->uid = small(field);
                break;
            case JobSpec::kUserFieldNumber:
                user = field.value;
                break;
            case JobSpec::kPartitionsFieldNumber:
                if (partitions == spec_->partitions.size()) spec_->partitions.emplace_back();
                set(spec_->partitions[partitions++], field.value);
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
            case JobSpec::kGresPerNodeFieldNumber:
                if (!read_request(field.value, spec_->gres_per_node.emplace_back())) return false;
                break;
            case JobSpec::kGpusPerJobFieldNumber:
                if (!read_request(field.value, spec_->gpus_per_job.emplace_back())) return false;
                break;
            case JobSpec::kBeginFieldNumber:
                spec_->begin = moment(field);
                break;
            default:
                return false;
        }
    }
    set(spec_->name, name);
    set(spec_->user, user);
    spec_->partitions.resize(partitions);
    return fields.ok();
}

bool JobLine::read_pending(std::string_view bytes) {
    auto& pending = std::get<model::Pending>(waiting_.phase);
    std::string_view detail;
    pending.reason = {};
    pending.hold = {};
    pending.eligible_at = {};
    pending.planned_start.reset();
    pending.special_exit = false;
    Fields fields(bytes);
    for (Field field; fields.next(field);) {
        switch (field.number) {
            case Pending::kReasonFieldNumber:
                if (!read_enum(small(field), model::kReasonLast, "reason", pending.reason))
                    return false;
                break;
            case Pending::kDetailFieldNumber:
                detail = field.value;
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
    set(pending.detail, detail);
    return fields.ok();
}

}  // namespace switchyard::wire
