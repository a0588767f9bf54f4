// describe.cpp: see describe.hpp.

#include "core/testing/describe.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core::testing {
namespace {

std::string run_name(JobId job, Attempt attempt) {
    return attempt.value == 0 ? fmt::format("{}", job.value)
                              : fmt::format("{}#{}", job.value, attempt.value);
}

std::string_view cause_word(EndCause cause) {
    switch (cause) {
        case EndCause::Finished:
            return "finished";
        case EndCause::Cancelled:
            return "cancelled";
        case EndCause::TimeLimit:
            return "time limit";
        case EndCause::NodeFailed:
            return "node failed";
        case EndCause::Preempted:
            return "preempted";
        case EndCause::Requeued:
            return "requeued";
        case EndCause::TaskFailed:
            return "task failed";
    }
    return "?";
}

std::string_view notice_word(reply::OwnerNotice::Kind kind) {
    using Kind = reply::OwnerNotice::Kind;
    switch (kind) {
        case Kind::TimeLimit:
            return "time limit";
        case Kind::Cancelled:
            return "cancelled";
        case Kind::NodeFailed:
            return "node failed";
        case Kind::Suspended:
            return "suspended";
        case Kind::Resumed:
            return "resumed";
        case Kind::Message:
            return "message";
    }
    return "?";
}

std::string outcome_text(const model::Outcome& outcome) {
    std::string text =
        fmt::format("{} {}", model::long_name(outcome.state), to_string(outcome.exit));
    if (outcome.reason != model::Reason::None)
        text += fmt::format(" {}", model::reason_text(outcome.reason));
    if (outcome.cancelled_by) text += fmt::format(" by {}", *outcome.cancelled_by);
    return text;
}

std::string notes_text(const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& note : notes) text += fmt::format(" [{}]", note);
    return text;
}

struct BodyWords {
    std::string operator()(const reply::Done& done) const {
        std::string text = "done";
        if (!done.touched.empty()) text += " " + join(done.touched, ",");
        for (const auto& problem : done.problems) {
            text += fmt::format(" [{}: {}]", problem.job, errc_text(problem.code));
        }
        return text;
    }
    std::string operator()(const reply::Failed& failed) const {
        return fmt::format("failed: {}{}", failed.error.message, notes_text(failed.notes));
    }
    std::string operator()(const reply::Submitted& submitted) const {
        return fmt::format("submitted {}{}", submitted.job.value, notes_text(submitted.notes));
    }
    std::string operator()(const reply::WouldStart& would) const {
        return fmt::format("job {} would start at {} using {} cpus on {} in {}", would.job.value,
                           unix_seconds(would.start), would.cpus,
                           model::compress_hostlist(would.nodes), would.partition);
    }
    std::string operator()(const reply::Granted& granted) const {
        return fmt::format("granted {}", granted.job.value);
    }
    std::string operator()(const reply::StepWaits& waits) const {
        return fmt::format("step waits: {}", errc_text(waits.why));
    }
    std::string operator()(const reply::StepMade& made) const {
        return "step " + name_of(made.key);
    }
    std::string operator()(const reply::JobEnded& ended) const {
        return fmt::format("job {} ended {}, worst {}", ended.job.value,
                           outcome_text(ended.outcome), ended.worst_wait_status);
    }
    std::string operator()(const reply::CrontabSet& set) const {
        std::string text = "crontab";
        for (const JobId job : set.jobs) text += fmt::format(" {}", job.value);
        return text;
    }
    std::string operator()(const reply::ReservationMade& made) const {
        return "reservation " + made.name;
    }
    std::string operator()(const reply::OwnerNotice& notice) const {
        return fmt::format("notice {} {}{}", notice.job.value, notice_word(notice.kind),
                           notice.node.empty() ? "" : " " + notice.node) +
               (notice.text.empty() ? "" : ": " + notice.text);
    }
    std::string operator()(const reply::StepEnds& ends) const {
        std::string text = "steps ended";
        for (const StepKey& key : ends.steps) text += " " + name_of(key);
        return text;
    }
};

struct EffectWords {
    std::string operator()(const effect::Reply& reply) const {
        return fmt::format("T{}: {}{}", reply.token.value, std::visit(BodyWords{}, reply.body),
                           reply.last ? "" : " ...");
    }
    std::string operator()(const effect::LaunchBatch& launch) const {
        return fmt::format("{}: launch {}.batch", launch.node,
                           run_name(launch.job, launch.attempt));
    }
    std::string operator()(const effect::LaunchStep& launch) const {
        return fmt::format("{}: launch {}", launch.node, name_of(launch.key));
    }
    std::string operator()(const effect::SignalSteps& signal) const {
        std::string text = fmt::format("{}: signal {} to {}", signal.node, signal.signal,
                                       run_name(signal.job, signal.attempt));
        if (signal.step) return text + "." + model::step_name(*signal.step);
        if (signal.batch_shell) text += " shell";
        if (signal.steps) text += " steps";
        if (signal.all_processes) text += " all";
        return text;
    }
    std::string operator()(const effect::EndStep& end) const {
        return fmt::format("{}: end step {} ({})", end.node, name_of(end.key),
                           cause_word(end.cause));
    }
    std::string operator()(const effect::EndJob& end) const {
        return fmt::format("{}: end job {} ({}) grace {}", end.node, run_name(end.job, end.attempt),
                           cause_word(end.cause), end.grace.count());
    }
    std::string operator()(const effect::SetDeadline& set) const {
        return fmt::format("{}: deadline of {} {}", set.node, run_name(set.job, set.attempt),
                           set.deadline ? std::to_string(unix_seconds(*set.deadline)) : "none");
    }
    std::string operator()(const effect::Freeze& freeze) const {
        return fmt::format("{}: {} {}{}", freeze.node, freeze.thaw ? "thaw" : "freeze",
                           run_name(freeze.job, freeze.attempt),
                           freeze.grace == Seconds{0}
                               ? std::string()
                               : fmt::format(" after {}", freeze.grace.count()));
    }
    std::string operator()(const effect::StepEndKnown& known) const {
        return fmt::format("{}: known {}", known.node, name_of(known.key));
    }
    std::string operator()(const effect::PrepareJob& prepare) const {
        return fmt::format("{}: prepare {}", prepare.node, run_name(prepare.job, prepare.attempt));
    }
    std::string operator()(const effect::RebootNode& reboot) const {
        return fmt::format("{}: reboot", reboot.node);
    }
    std::string operator()(const effect::NotifyBatch& notify) const {
        return fmt::format("{}: notify {}: {}", notify.node, run_name(notify.job, notify.attempt),
                           notify.text);
    }
    std::string operator()(const effect::RunTrigger& run) const {
        return fmt::format("run trigger {}: {} {} as {}", run.trigger.id, run.trigger.program,
                           run.argument, run.trigger.uid);
    }
    std::string operator()(const effect::RunProgram& run) const {
        return fmt::format("run {} of {}", run.epilog ? "epilog" : "prolog",
                           run_name(run.job, run.attempt));
    }
    std::string operator()(const effect::StopProgram& stop) const {
        return fmt::format("stop prolog of {}", run_name(stop.job, stop.attempt));
    }
    std::string operator()(const effect::Stalled& stalled) const {
        return fmt::format("stalled: {}", stalled.what);
    }
    std::string operator()(const effect::Mail& mail) const {
        return fmt::format("mail to {}: {}", mail.to, mail.subject);
    }
};

}  // namespace

std::string name_of(const StepKey& key) {
    return fmt::format("{}.{}", run_name(key.job, key.attempt), model::step_name(key.step));
}

std::string describe(const Effect& effect) { return std::visit(EffectWords{}, effect); }

std::string describe(const model::Allocation& allocation) {
    std::string text;
    for (const model::NodeGrant& grant : allocation.nodes) {
        if (!text.empty()) text += " ";
        text += fmt::format("{}[{}]", grant.node, to_string(grant.cores));
        if (grant.tasks != grant.cpus) text += fmt::format("x{}", grant.tasks);
        if (grant.memory.value > 0) text += fmt::format(" {}M", grant.memory.value);
        if (!grant.gres.empty()) text += " " + to_string(grant.gres);
    }
    return text;
}

std::string describe(const model::Job& job) {
    std::string text =
        fmt::format("{} {}", model::display_id(job), model::long_name(model::state_of(job)));
    if (const auto* pending = std::get_if<model::Pending>(&job.phase)) {
        const std::string word(model::reason_text(pending->reason));
        const bool telling = pending->detail.starts_with(word);
        text += fmt::format(" ({})", telling ? pending->detail : word);
    } else if (const auto* completing = std::get_if<model::Completing>(&job.phase)) {
        text += fmt::format(" {}", outcome_text(completing->outcome));
        if (!completing->epilog) text += " on " + model::compress_hostlist(completing->dirty_nodes);
    } else if (const auto* ended = std::get_if<model::Ended>(&job.phase)) {
        text = fmt::format("{} {}", model::display_id(job), outcome_text(ended->outcome));
    } else {
        text += " " + describe(*model::allocation_of(job));
    }
    if (job.restarts > 0) text += fmt::format(" restarts={}", job.restarts);
    return text;
}

std::string describe(const model::Node& node) {
    std::string text = fmt::format("{} {}", node.config.name, model::long_name(node));
    if (node.used_cpus > 0) text += fmt::format(" cpus={}", node.used_cpus);
    if (node.used_memory.value > 0) text += fmt::format(" mem={}M", node.used_memory.value);
    if (!node.used_gres.empty()) text += " " + to_string(node.used_gres);
    if (node.mark) text += fmt::format(" [{} by {}]", node.mark->reason, node.mark->by);
    return text;
}

}  // namespace switchyard::core::testing
