#include "controller/folded_job.hpp"

#include <array>
#include <cstring>
#include <initializer_list>

#include "controller/wire_fields.hpp"
#include "wire/fields.hpp"
#include "wire/proto/model.pb.h"

namespace switchyard::controller {
namespace {

// How much of a job is kept: who it is and how it stands, or what a line of a list shows as well.
enum class Cut { State, Line };

// A field that is kept: whole, or if it has parts of its own, those.
class Shape;
struct Kept {
    std::uint32_t number;
    const Shape* parts = nullptr;
    Cut least = Cut::State;
};
// Kept only for a line.
constexpr Kept for_line(int number, const Shape* parts = nullptr) {
    return {static_cast<std::uint32_t>(number), parts, Cut::Line};
}

// The fields of a message that are kept. Most are not, and one look tells so.
class Shape {
  public:
    consteval Shape(std::initializer_list<Kept> fields) {
        std::uint8_t count = 0;
        for (const Kept& field : fields) {
            kept_.at(count) = field;
            place_.at(field.number) = ++count;
        }
    }
    // Null: it is dropped.
    const Kept* find(std::uint32_t number, Cut to) const {
        if (number >= place_.size() || place_[number] == 0) return nullptr;
        const Kept& kept = kept_[place_[number] - 1u];
        return kept.least <= to ? &kept : nullptr;
    }

  private:
    std::array<Kept, 16> kept_{};
    std::array<std::uint8_t, 160> place_{};  // In kept_, counted from 1.
};

constexpr Shape kNode = {Kept{wire::NodeGrant::kNodeFieldNumber}};
constexpr Shape kAllocation = {Kept{wire::Allocation::kNodesFieldNumber, &kNode}};
constexpr Shape kRun = {for_line(wire::Running::kAllocationFieldNumber, &kAllocation),
                        {wire::Running::kStartedFieldNumber},
                        {wire::Running::kEndsByFieldNumber},
                        {wire::Running::kSuspendedForFieldNumber},
                        {wire::Running::kGpusIdleSinceFieldNumber},
                        {wire::Running::kPreemptableAtFieldNumber},
                        {wire::Running::kPreemptedFieldNumber},
                        {wire::Running::kConfiguringFieldNumber}};
constexpr Shape kPending = {{wire::Pending::kReasonFieldNumber},
                            for_line(wire::Pending::kDetailFieldNumber),
                            {wire::Pending::kHoldFieldNumber},
                            {wire::Pending::kEligibleAtFieldNumber},
                            for_line(wire::Pending::kPlannedStartFieldNumber),
                            {wire::Pending::kSpecialExitFieldNumber}};
constexpr Shape kSuspended = {{wire::Suspended::kRunFieldNumber, &kRun},
                              {wire::Suspended::kSinceFieldNumber}};
constexpr Shape kCompleting = {{wire::Completing::kRunFieldNumber, &kRun},
                               {wire::Completing::kEndedFieldNumber},
                               {wire::Completing::kOutcomeFieldNumber},
                               for_line(wire::Completing::kDirtyNodesFieldNumber),
                               {wire::Completing::kNextFieldNumber}};
constexpr Shape kEnded = {{wire::Ended::kRunFieldNumber, &kRun},
                          {wire::Ended::kEndedFieldNumber},
                          {wire::Ended::kOutcomeFieldNumber}};
constexpr Shape kSpec = {{wire::JobSpec::kNameFieldNumber},
                         {wire::JobSpec::kUidFieldNumber},
                         {wire::JobSpec::kUserFieldNumber},
                         {wire::JobSpec::kPartitionsFieldNumber},
                         for_line(wire::JobSpec::kNodesMinFieldNumber),
                         for_line(wire::JobSpec::kTasksFieldNumber),
                         for_line(wire::JobSpec::kTasksPerNodeFieldNumber),
                         for_line(wire::JobSpec::kGresPerNodeFieldNumber),
                         for_line(wire::JobSpec::kGpusPerJobFieldNumber),
                         for_line(wire::JobSpec::kRequiredNodesFieldNumber),
                         for_line(wire::JobSpec::kTimeLimitFieldNumber),
                         for_line(wire::JobSpec::kBeginFieldNumber)};
constexpr Shape kJob = {{wire::Job::kIdFieldNumber},
                        {wire::Job::kHetFieldNumber},
                        {wire::Job::kArrayFieldNumber},
                        {wire::Job::kSpecFieldNumber, &kSpec},
                        {wire::Job::kAttemptFieldNumber},
                        {wire::Job::kRestartsFieldNumber},
                        {wire::Job::kPriorityFieldNumber},
                        {wire::Job::kPartitionFieldNumber},
                        {wire::Job::kSubmittedFieldNumber},
                        {wire::Job::kPendingFieldNumber, &kPending},
                        {wire::Job::kRunningFieldNumber, &kRun},
                        {wire::Job::kSuspendedFieldNumber, &kSuspended},
                        {wire::Job::kCompletingFieldNumber, &kCompleting},
                        {wire::Job::kEndedFieldNumber, &kEnded}};

char* put(char* out, std::string_view bytes) {
    std::memcpy(out, bytes.data(), bytes.size());
    return out + bytes.size();
}

// Writes what is kept of the message, which is never more than the message; returns where it ends.
char* cut(std::string_view message, const Shape& shape, Cut to, char* out) {
    const char* kept_from = message.data();  // From here to the present field all is kept.
    const char* end = kept_from;
    wire::Fields fields(message);
    for (wire::Field field; fields.next(field);) {
        end = field.whole.data() + field.whole.size();
        const Kept* kept = shape.find(field.number, to);
        if (kept != nullptr && kept->parts == nullptr) continue;
        out = put(out, {kept_from, field.whole.data()});
        kept_from = end;
        if (kept == nullptr) continue;
        out = put_field(out, field.number,
                        [&](char* inside) { return cut(field.value, *kept->parts, to, inside); });
    }
    return put(out, {kept_from, end});
}

void append_cut(std::string& out, std::uint32_t number, std::string_view job, Cut to) {
    append_field(out, number, job.size(), [&](char* inside) { return cut(job, kJob, to, inside); });
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

void append_state(std::string& out, std::uint32_t number, std::string_view job) {
    append_cut(out, number, job, Cut::State);
}

void append_line(std::string& out, std::uint32_t number, std::string_view job) {
    append_cut(out, number, job, Cut::Line);
}

}  // namespace switchyard::controller
