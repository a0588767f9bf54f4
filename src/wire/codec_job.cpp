// codec_job.cpp: a job as the controller knows it, in whichever phase it is, by the tables of its
// fields.
#include <memory>
#include <variant>

#include "wire/codec_fields.hpp"

namespace switchyard::wire {

SY_CODEC(NodeGrant, SY_NODE_GRANT_FIELDS)
SY_CODEC(Allocation, SY_ALLOCATION_FIELDS)
SY_CODEC(Outcome, SY_OUTCOME_FIELDS)
SY_CODEC(Pending, SY_PENDING_FIELDS)
SY_CODEC(Preemption, SY_PREEMPTION_FIELDS)
SY_CODEC(Running, SY_RUNNING_FIELDS)
SY_CODEC(Suspended, SY_SUSPENDED_FIELDS)
SY_CODEC(Completing, SY_COMPLETING_FIELDS)
SY_CODEC(Ended, SY_ENDED_FIELDS)

namespace {

#define SY_BY_HAND(...)
#define SY_WRITE_PHASE(Type, wire)                           \
    if (const auto* phase = std::get_if<model::Type>(&from)) \
        return encode(*phase, to->mutable_##wire());
#define SY_READ_PHASE(Type, wire) \
    case Job::k##Type:            \
        return decode_into(from.wire(), to.emplace<model::Type>());

namespace fields {
SY_JOB_FIELDS(SY_ACCESS, SY_BY_HAND)
}  // namespace fields

void encode_phase(const model::JobPhase& from, Job* to) { SY_JOB_PHASES(SY_WRITE_PHASE); }

Status decode_phase(const Job& from, model::JobPhase& to) {
    switch (from.phase_case()) {
        SY_JOB_PHASES(SY_READ_PHASE)
        case Job::PHASE_NOT_SET:
            break;
    }
    return fail(Errc::InvalidArgument, "message holds a job without a phase");
}

[[maybe_unused]] void all_are_named(const model::Job& value) {
    [[maybe_unused]] const auto& [SY_FIELD_NAMES(SY_JOB_MEMBERS)] = value;
}

}  // namespace

void encode(const model::Job& from, Job* to) {
    SY_JOB_FIELDS(SY_WRITE, SY_BY_HAND)
    if (from.spec) encode(*from.spec, to->mutable_spec());
    encode_phase(from.phase, to);
}

Status decode_into(const Job& from, model::Job& to) {
    SY_JOB_FIELDS(SY_READ, SY_BY_HAND)
    auto spec = std::make_shared<model::JobSpec>();
    SY_CHECK(decode_into(from.spec(), *spec));
    to.spec = std::move(spec);
    return decode_phase(from, to.phase);
}

}  // namespace switchyard::wire
