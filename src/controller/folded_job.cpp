#include "controller/folded_job.hpp"

#include <algorithm>
#include <span>

#include "controller/wire_fields.hpp"
#include "wire/fields.hpp"
#include "wire/proto/model.pb.h"

namespace switchyard::controller {
namespace {

// How much of a job is kept: who it is and how it stands, or what a line of a list shows as well.
enum class Cut { State, Line };

// A field that is kept: whole, or if it has parts of its own, those.
struct Kept {
    std::uint32_t number;
    std::span<const Kept> parts = {};
    Cut least = Cut::State;
};
// Kept only for a line.
constexpr Kept for_line(int number, std::span<const Kept> parts = {}) {
    return {static_cast<std::uint32_t>(number), parts, Cut::Line};
}

constexpr Kept kNode[] = {{wire::NodeGrant::kNodeFieldNumber}};
constexpr Kept kAllocation[] = {{wire::Allocation::kNodesFieldNumber, kNode}};
constexpr Kept kRun[] = {for_line(wire::Running::kAllocationFieldNumber, kAllocation),
                         {wire::Running::kStartedFieldNumber},
                         {wire::Running::kEndsByFieldNumber},
                         {wire::Running::kSuspendedForFieldNumber},
                         {wire::Running::kGpusIdleSinceFieldNumber},
                         {wire::Running::kPreemptableAtFieldNumber},
                         {wire::Running::kPreemptedFieldNumber},
                         {wire::Running::kConfiguringFieldNumber}};
constexpr Kept kPending[] = {{wire::Pending::kReasonFieldNumber},
                             for_line(wire::Pending::kDetailFieldNumber),
                             {wire::Pending::kHoldFieldNumber},
                             {wire::Pending::kEligibleAtFieldNumber},
                             for_line(wire::Pending::kPlannedStartFieldNumber),
                             {wire::Pending::kSpecialExitFieldNumber}};
constexpr Kept kSuspended[] = {{wire::Suspended::kRunFieldNumber, kRun},
                               {wire::Suspended::kSinceFieldNumber}};
constexpr Kept kCompleting[] = {{wire::Completing::kRunFieldNumber, kRun},
                                {wire::Completing::kEndedFieldNumber},
                                {wire::Completing::kOutcomeFieldNumber},
                                for_line(wire::Completing::kDirtyNodesFieldNumber),
                                {wire::Completing::kNextFieldNumber}};
constexpr Kept kEnded[] = {{wire::Ended::kRunFieldNumber, kRun},
                           {wire::Ended::kEndedFieldNumber},
                           {wire::Ended::kOutcomeFieldNumber}};
constexpr Kept kSpec[] = {{wire::JobSpec::kNameFieldNumber},
                          {wire::JobSpec::kUidFieldNumber},
                          {wire::JobSpec::kUserFieldNumber},
                          {wire::JobSpec::kPartitionsFieldNumber},
                          for_line(wire::JobSpec::kNodesMinFieldNumber),
                          for_line(wire::JobSpec::kTasksFieldNumber),
                          for_line(wire::JobSpec::kTasksPerNodeFieldNumber),
                          for_line(wire::JobSpec::kRequiredNodesFieldNumber),
                          for_line(wire::JobSpec::kTimeLimitFieldNumber)};
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

// Of a field whose head was written for nothing in it, when its content stands there.
void set_field_size(std::string& out, std::size_t begin, std::size_t inside, std::uint32_t number) {
    std::string head;
    append_field_head(head, number, out.size() - inside);
    out.replace(begin, inside - begin, head);
}

void cut(std::string_view message, std::span<const Kept> kept, Cut to, std::string& out) {
    // Most fields are not kept: one look tells so of nearly all of them.
    std::uint64_t some = 0;
    for (const Kept& each : kept) some |= std::uint64_t{1} << (each.number % 64);
    wire::Fields fields(message);
    for (wire::Field field; fields.next(field);) {
        if ((some >> (field.number % 64) & 1) == 0) continue;
        const auto found = std::ranges::find(kept, field.number, &Kept::number);
        if (found == kept.end() || found->least > to) continue;
        if (found->parts.empty()) {
            out += field.whole;
        } else {
            const std::size_t begin = out.size();
            append_field_head(out, found->number, 0);
            const std::size_t inside = out.size();
            cut(field.value, found->parts, to, out);
            set_field_size(out, begin, inside, found->number);
        }
    }
}

}  // namespace

FoldedJob look_at_folded(std::string_view job) {
    FoldedJob found;
    wire::Fields fields(job);
    for (wire::Field field; fields.next(field);) {
        switch (field.number) {
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
                found.partition = field.value;
                break;
            default:
                break;
        }
    }
    return found;
}

void cut_to_state(std::string_view job, std::string& out) {
    out.clear();
    cut(job, kJob, Cut::State, out);
}

void cut_to_line(std::string_view job, std::string& out) {
    out.clear();
    cut(job, kJob, Cut::Line, out);
}

}  // namespace switchyard::controller
