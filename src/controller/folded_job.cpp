#include "controller/folded_job.hpp"

#include <span>

#include "controller/wire_fields.hpp"
#include "wire/proto/model.pb.h"

namespace switchyard::controller {
namespace {

// A field that is kept: whole, or if it has parts of its own, those.
struct Kept {
    std::uint32_t number;
    std::span<const Kept> parts = {};
};

constexpr Kept kRun[] = {
    {wire::Running::kStartedFieldNumber},      {wire::Running::kEndsByFieldNumber},
    {wire::Running::kSuspendedForFieldNumber}, {wire::Running::kPreemptableAtFieldNumber},
    {wire::Running::kPreemptedFieldNumber},    {wire::Running::kConfiguringFieldNumber}};
constexpr Kept kPending[] = {{wire::Pending::kReasonFieldNumber},
                             {wire::Pending::kHoldFieldNumber},
                             {wire::Pending::kEligibleAtFieldNumber},
                             {wire::Pending::kSpecialExitFieldNumber}};
constexpr Kept kSuspended[] = {{wire::Suspended::kRunFieldNumber, kRun},
                               {wire::Suspended::kSinceFieldNumber}};
constexpr Kept kCompleting[] = {{wire::Completing::kRunFieldNumber, kRun},
                                {wire::Completing::kEndedFieldNumber},
                                {wire::Completing::kOutcomeFieldNumber},
                                {wire::Completing::kNextFieldNumber}};
constexpr Kept kEnded[] = {{wire::Ended::kRunFieldNumber, kRun},
                           {wire::Ended::kEndedFieldNumber},
                           {wire::Ended::kOutcomeFieldNumber}};
constexpr Kept kSpec[] = {{wire::JobSpec::kNameFieldNumber},
                          {wire::JobSpec::kUidFieldNumber},
                          {wire::JobSpec::kUserFieldNumber},
                          {wire::JobSpec::kPartitionsFieldNumber}};
constexpr Kept kJob[] = {{wire::Job::kIdFieldNumber},
                         {wire::Job::kHetFieldNumber},
                         {wire::Job::kArrayFieldNumber},
                         {wire::Job::kSpecFieldNumber, kSpec},
                         {wire::Job::kAttemptFieldNumber},
                         {wire::Job::kRestartsFieldNumber},
                         {wire::Job::kPriorityFieldNumber},
                         {wire::Job::kPartitionFieldNumber},
                         {wire::Job::kSubmittedFieldNumber},
                         {wire::Job::kPendingFieldNumber, kPending},
                         {wire::Job::kRunningFieldNumber, kRun},
                         {wire::Job::kSuspendedFieldNumber, kSuspended},
                         {wire::Job::kCompletingFieldNumber, kCompleting},
                         {wire::Job::kEndedFieldNumber, kEnded}};

void cut(std::string_view message, std::span<const Kept> kept, std::string& out) {
    WireFields fields(message);
    while (const auto field = fields.next()) {
        for (const Kept& each : kept) {
            if (each.number != field->number) continue;
            if (each.parts.empty()) {
                out += field->whole;
            } else {
                std::string part;
                cut(field->value, each.parts, part);
                append_field_head(out, each.number, part.size());
                out += part;
            }
            break;
        }
    }
}

}  // namespace

FoldedJob look_at_folded(std::string_view job) {
    FoldedJob found;
    WireFields fields(job);
    while (const auto field = fields.next()) {
        switch (field->number) {
            case wire::Job::kPendingFieldNumber:
                found.pending = true;
                break;
            case wire::Job::kRunningFieldNumber:
                found.running = true;
                break;
            case wire::Job::kEndedFieldNumber:
                found.ended = true;
                break;
            case wire::Job::kArrayFieldNumber:
                found.in_array = true;
                break;
            case wire::Job::kPartitionFieldNumber:
                found.partition = field->value;
                break;
            default:
                break;
        }
    }
    return found;
}

void cut_to_state(std::string_view job, std::string& out) {
    out.clear();
    cut(job, kJob, out);
}

}  // namespace switchyard::controller
