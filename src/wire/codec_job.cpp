// codec_job.cpp: a job as the controller knows it, in whichever phase it is.
#include "wire/codec_parts.hpp"

#include <memory>
#include <variant>

namespace switchyard::wire {

void encode(const model::Outcome& from, Outcome* to) {
    to->set_state(number_of(from.state));
    to->set_reason(number_of(from.reason));
    if (!is_default(from.exit)) encode(from.exit, to->mutable_exit());
    if (!is_default(from.derived_exit)) encode(from.derived_exit, to->mutable_derived_exit());
    if (from.cancelled_by) to->set_cancelled_by(*from.cancelled_by);
}

Status decode_into(const Outcome& from, model::Outcome& to) {
    SY_CHECK(read_enum(from.state(), model::kJobStateLast, "state", to.state));
    SY_CHECK(read_enum(from.reason(), model::kReasonLast, "reason", to.reason));
    if (from.has_exit()) SY_CHECK(read_message(from.exit(), to.exit));
    if (from.has_derived_exit()) SY_CHECK(read_message(from.derived_exit(), to.derived_exit));
    if (from.has_cancelled_by()) to.cancelled_by = from.cancelled_by();
    return {};
}

void encode(const model::Pending& from, Pending* to) {
    to->set_reason(number_of(from.reason));
    if (!from.detail.empty()) to->set_detail(from.detail);
    to->set_hold(number_of(from.hold));
    to->set_eligible_at(millis_of(from.eligible_at));
    if (from.planned_start) to->set_planned_start(millis_of(*from.planned_start));
    put_strings(from.planned_nodes, to->mutable_planned_nodes());
    to->set_special_exit(from.special_exit);
}

Status decode_into(const Pending& from, model::Pending& to) {
    SY_CHECK(read_enum(from.reason(), model::kReasonLast, "reason", to.reason));
    to.detail = from.detail();
    SY_CHECK(read_enum(from.hold(), model::Hold::Admin, "hold", to.hold));
    to.eligible_at = instant_of(from.eligible_at());
    if (from.has_planned_start()) to.planned_start = instant_of(from.planned_start());
    to.planned_nodes = strings_of(from.planned_nodes());
    to.special_exit = from.special_exit();
    return {};
}

void encode(const model::Preemption& from, Preemption* to) {
    to->set_at(millis_of(from.at));
    to->set_by(from.by.value);
    if (from.grace_ends) to->set_grace_ends(millis_of(*from.grace_ends));
    to->set_lends_cores(from.lends_cores);
}

Status decode_into(const Preemption& from, model::Preemption& to) {
    to.at = instant_of(from.at());
    to.by = JobId{from.by()};
    if (from.has_grace_ends()) to.grace_ends = instant_of(from.grace_ends());
    to.lends_cores = from.lends_cores();
    return {};
}

void encode(const model::Running& from, Running* to) {
    encode(from.allocation, to->mutable_allocation());
    to->set_started(millis_of(from.started));
    if (from.ends_by) to->set_ends_by(millis_of(*from.ends_by));
    to->set_suspended_for(from.suspended_for.count());
    if (from.gpus_idle_since) to->set_gpus_idle_since(millis_of(*from.gpus_idle_since));
    if (!from.reservation.empty()) to->set_reservation(from.reservation);
    if (!from.licenses.empty()) to->set_licenses(from.licenses);
    if (from.preemptable_at) to->set_preemptable_at(millis_of(*from.preemptable_at));
    if (from.preempted) encode(*from.preempted, to->mutable_preempted());
    if (from.configuring) to->set_configuring(true);
    if (from.begun) to->set_begun(true);
}

Status decode_into(const Running& from, model::Running& to) {
    if (from.has_allocation()) SY_CHECK(read_message(from.allocation(), to.allocation));
    to.started = instant_of(from.started());
    if (from.has_ends_by()) to.ends_by = instant_of(from.ends_by());
    to.suspended_for = Seconds{from.suspended_for()};
    if (from.has_gpus_idle_since()) to.gpus_idle_since = instant_of(from.gpus_idle_since());
    to.reservation = from.reservation();
    to.licenses = from.licenses();
    if (from.has_preemptable_at()) to.preemptable_at = instant_of(from.preemptable_at());
    if (from.has_preempted()) SY_CHECK(read_message(from.preempted(), to.preempted));
    to.configuring = from.configuring();
    to.begun = from.begun();
    return {};
}

void encode(const model::Suspended& from, Suspended* to) {
    encode(from.run, to->mutable_run());
    to->set_since(millis_of(from.since));
}

Status decode_into(const Suspended& from, model::Suspended& to) {
    if (from.has_run()) SY_CHECK(read_message(from.run(), to.run));
    to.since = instant_of(from.since());
    return {};
}

void encode(const model::Completing& from, Completing* to) {
    encode(from.run, to->mutable_run());
    to->set_ended(millis_of(from.ended));
    encode(from.outcome, to->mutable_outcome());
    put_strings(from.dirty_nodes, to->mutable_dirty_nodes());
    to->set_next(number_of(from.next));
    if (from.epilog) to->set_epilog(true);
}

Status decode_into(const Completing& from, model::Completing& to) {
    if (from.has_run()) SY_CHECK(read_message(from.run(), to.run));
    to.ended = instant_of(from.ended());
    if (from.has_outcome()) SY_CHECK(read_message(from.outcome(), to.outcome));
    to.dirty_nodes = strings_of(from.dirty_nodes());
    SY_CHECK(read_enum(from.next(), model::Completing::Next::SpecialExit, "next", to.next));
    to.epilog = from.epilog();
    return {};
}

void encode(const model::Ended& from, Ended* to) {
    if (from.run) encode(*from.run, to->mutable_run());
    to->set_ended(millis_of(from.ended));
    encode(from.outcome, to->mutable_outcome());
}

Status decode_into(const Ended& from, model::Ended& to) {
    if (from.has_run()) SY_CHECK(read_message(from.run(), to.run));
    to.ended = instant_of(from.ended());
    if (from.has_outcome()) SY_CHECK(read_message(from.outcome(), to.outcome));
    return {};
}

namespace {

void encode_phase(const model::JobPhase& from, Job* to) {
    struct Writer {
        Job* to;
        void operator()(const model::Pending& phase) const { encode(phase, to->mutable_pending()); }
        void operator()(const model::Running& phase) const { encode(phase, to->mutable_running()); }
        void operator()(const model::Suspended& phase) const {
            encode(phase, to->mutable_suspended());
        }
        void operator()(const model::Completing& phase) const {
            encode(phase, to->mutable_completing());
        }
        void operator()(const model::Ended& phase) const { encode(phase, to->mutable_ended()); }
    };
    std::visit(Writer{to}, from);
}

Status decode_phase(const Job& from, model::JobPhase& to) {
    switch (from.phase_case()) {
        case Job::kPending:
            return decode_into(from.pending(), to.emplace<model::Pending>());
        case Job::kRunning:
            return decode_into(from.running(), to.emplace<model::Running>());
        case Job::kSuspended:
            return decode_into(from.suspended(), to.emplace<model::Suspended>());
        case Job::kCompleting:
            return decode_into(from.completing(), to.emplace<model::Completing>());
        case Job::kEnded:
            return decode_into(from.ended(), to.emplace<model::Ended>());
        case Job::PHASE_NOT_SET:
            break;
    }
    return fail(Errc::InvalidArgument, "message holds a job without a phase");
}

}  // namespace

void encode(const model::Job& from, Job* to) {
    to->set_id(from.id.value);
    if (from.array) encode(*from.array, to->mutable_array());
    if (from.het) {
        to->mutable_het()->set_leader(from.het->leader.value);
        to->mutable_het()->set_offset(from.het->offset);
        to->mutable_het()->set_size(from.het->size);
    }
    to->set_attempt(from.attempt.value);
    to->set_restarts(from.restarts);
    to->set_priority(from.priority);
    if (!from.partition.empty()) to->set_partition(from.partition);
    to->set_submitted(millis_of(from.submitted));
    if (from.eligible) to->set_eligible(millis_of(*from.eligible));
    if (from.last_evaluated) to->set_last_evaluated(millis_of(*from.last_evaluated));
    if (!from.scheduler.empty()) to->set_scheduler(from.scheduler);
    to->set_next_step(from.next_step);
    to->set_nonce(from.nonce);
    if (!from.admin_comment.empty()) to->set_admin_comment(from.admin_comment);
    if (!from.system_comment.empty()) to->set_system_comment(from.system_comment);
    if (from.spec) encode(*from.spec, to->mutable_spec());
    encode_phase(from.phase, to);
}

Status decode_into(const Job& from, model::Job& to) {
    to.id.value = from.id();
    if (from.has_array()) SY_CHECK(read_message(from.array(), to.array));
    if (from.has_het())
        to.het =
            model::HetPlace{JobId{from.het().leader()}, from.het().offset(), from.het().size()};
    to.attempt.value = from.attempt();
    to.restarts = from.restarts();
    to.priority = from.priority();
    to.partition = from.partition();
    to.submitted = instant_of(from.submitted());
    if (from.has_eligible()) to.eligible = instant_of(from.eligible());
    if (from.has_last_evaluated()) to.last_evaluated = instant_of(from.last_evaluated());
    to.scheduler = from.scheduler();
    to.next_step = from.next_step();
    to.nonce = from.nonce();
    to.admin_comment = from.admin_comment();
    to.system_comment = from.system_comment();
    auto spec = std::make_shared<model::JobSpec>();
    SY_CHECK(decode_into(from.spec(), *spec));
    to.spec = std::move(spec);
    SY_CHECK(decode_phase(from, to.phase));
    return {};
}

}  // namespace switchyard::wire
