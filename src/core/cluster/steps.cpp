// steps.cpp: steps are made, begin, and end node by node.

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

// The worse of two exits, as srun judges: a signal beats a code, a higher code a lower.
bool is_worse(const model::ExitStatus& a, const model::ExitStatus& b) {
    const auto weight = [](const model::ExitStatus& e) {
        return std::pair(e.signal != 0 ? 1 : 0, e.signal + e.code);
    };
    return weight(a) > weight(b);
}

}  // namespace

void Cluster::Impl::on(const event::CreateStep& event) {
    const StepTry outcome = try_step(event, true);
    if (outcome != StepTry::Busy) return;
    if (event.spec.immediate) return refuse(event.token, Errc::NodesBusy);
    side(event.job).waiting_steps.push_back({event});
    tokens_[event.token].steps_of.insert(event.job);
    reply(event.token, reply::StepWaits{Errc::NodesBusy}, false);
}

// A step that is already here, asked for again because the answer was lost: true if it was one.
bool Cluster::Impl::answer_repeated(const event::CreateStep& event) {
    std::vector<JobId> jobs{event.job};
    for (const event::CreateStep::Part& part : event.more) jobs.push_back(part.job);
    std::vector<StepKey> keys;
    for (const JobId id : jobs) {
        const Job* job = find_job(id);
        if (job == nullptr) return false;
        const auto first = steps_.lower_bound(StepKey{id, job->attempt, StepId{0}});
        for (auto at = first;
             at != steps_.end() && at->first.job == id && at->first.attempt == job->attempt; ++at) {
            if (at->second.nonce == event.nonce) keys.push_back(at->first);
        }
    }
    if (keys.size() != jobs.size()) return false;
    // The answer goes first: by it the shell knows which step its srun's command line belongs to.
    reply(event.token, reply::StepMade{keys.front(), {keys.begin() + 1, keys.end()}});
    for (const StepKey& key : keys) {
        JobSide& own_side = side(key.job);
        own_side.launched_here.insert(key.step);
        for (const std::string& node : steps_.at(key).running_nodes)
            own_side.doubted.erase({key.step, node});
        launch_step(key);
    }
    return true;
}

Cluster::Impl::StepTry Cluster::Impl::try_step(const event::CreateStep& event, bool first_time) {
    const auto refused = [&](Errc code) {
        refuse(event.token, code);
        return StepTry::Refused;
    };
    Job* job = find_job(event.job);
    if (job == nullptr) return refused(Errc::InvalidJobId);
    if (!may_touch(event.caller, *job)) return refused(Errc::AccessDenied);
    if (event.nonce != 0 && first_time && answer_repeated(event)) return StepTry::Made;
    if (!event.more.empty()) return try_parts(event);
    if (std::holds_alternative<model::Pending>(job->phase)) return refused(Errc::JobPending);
    if (std::holds_alternative<model::Suspended>(job->phase)) return StepTry::Busy;
    if (!std::holds_alternative<model::Running>(job->phase)) return refused(Errc::JobFinished);
    if (is_configuring(*job)) return StepTry::Busy;
    if (job->next_step >= limits::kStepsPerJobMax) return refused(Errc::StepLimit);
    JobSide& own_side = side(job->id);
    if (event.spec.interactive && own_side.active_steps.contains(kInteractiveStep))
        return refused(Errc::StepLimit);

    auto layout = lay_out_step(*job, event);
    if (!layout) {
        if (layout.error().code == Errc::NodesBusy) return StepTry::Busy;
        reply(event.token, reply::Failed{layout.error(), {}});
        return StepTry::Refused;
    }
    auto ports = reserve_ports(event.spec, *layout);
    if (!ports) {
        reply(event.token, reply::Failed{ports.error(), {}});
        return StepTry::Refused;
    }
    const StepKey key = make_step(*job, event, std::move(*layout), *std::move(ports), std::nullopt);
    reply(event.token, reply::StepMade{key});
    launch_step(key);
    return StepTry::Made;
}

// The record of a step whose place was found.
StepKey Cluster::Impl::make_step(Job& job, const event::CreateStep& event, model::StepLayout layout,
                                 std::string ports, std::optional<model::HetStep> het) {
    model::Step step;
    step.resv_ports = std::move(ports);
    step.het = het;
    step.key = {job.id, job.attempt,
                event.spec.interactive ? kInteractiveStep : StepId{job.next_step}};
    if (!event.spec.interactive) ++job.next_step;
    step.nonce = event.nonce;
    step.spec = event.spec;
    step.layout = std::move(layout);
    step.started = now_;
    for (const model::StepNode& node : step.layout.nodes)
        step.running_nodes.push_back(node.grant.node);
    JobSide& own_side = side(job.id);
    own_side.active_steps.insert(step.key.step);
    own_side.launched_here.insert(step.key.step);
    touch(job);
    touch(step);
    const StepKey key = step.key;
    steps_.insert_or_assign(key, std::move(step));
    return key;
}

void Cluster::Impl::launch_step(const StepKey& key) {
    const std::vector<std::string> nodes = steps_.at(key).running_nodes;
    for (const std::string& node : nodes) emit(effect::LaunchStep{node, key});
}

// --resv-ports: numbers that no other step has on any of these nodes.
Result<std::string> Cluster::Impl::reserve_ports(const model::StepSpec& spec,
                                                 const model::StepLayout& layout) const {
    if (!spec.resv_ports) return std::string();
    if (settings_.last_port == 0) return fail(Errc::Unsupported, "No reserved ports defined");
    std::uint64_t wanted = *spec.resv_ports;
    std::set<std::string> nodes;
    for (const model::StepNode& node : layout.nodes) {
        if (*spec.resv_ports == 0) wanted = std::max<std::uint64_t>(wanted, node.tasks.size());
        nodes.insert(node.grant.node);
    }
    model::IndexSet free;
    free.insert(model::IndexSet::Interval{settings_.first_port, settings_.last_port});
    for (const auto& [key, step] : steps_) {
        if (step.resv_ports.empty() || step.end) continue;
        const auto here = [&](const std::string& node) { return nodes.contains(node); };
        if (std::ranges::none_of(step.running_nodes, here)) continue;
        if (const auto taken = model::parse_index_set(step.resv_ports)) free.erase(*taken);
    }
    if (free.size() < wanted) return fail(Errc::NodesBusy, "Requested ports are in use");
    return to_string(free.first(wanted));
}

void Cluster::Impl::retry_waiting_steps(JobId id) {
    JobSide* own_side = find_side(id);
    if (own_side == nullptr || own_side->waiting_steps.empty()) return;
    std::vector<WaitingStep> waiting = std::exchange(own_side->waiting_steps, {});
    std::vector<WaitingStep> still;
    for (WaitingStep& one : waiting) {
        if (try_step(one.request, false) == StepTry::Busy) {
            still.push_back(std::move(one));
        } else {
            drop_token(one.request.token, id);
        }
    }
    if (still.empty()) return;
    JobSide& again = side(id);
    again.waiting_steps.insert(again.waiting_steps.begin(), std::make_move_iterator(still.begin()),
                               std::make_move_iterator(still.end()));
}

void Cluster::Impl::on(const event::StepStarted& event) {
    JobSide* own_side = find_side(event.key.job);
    const Job* job = find_job(event.key.job);
    if (own_side == nullptr || job == nullptr || job->attempt != event.key.attempt) return;
    own_side->seen.insert({event.key.step, event.node});
    own_side->doubted.erase({event.key.step, event.node});
}

void Cluster::Impl::on(const event::StepEnded& event) {
    const StepReport& report = event.report;
    // Whatever becomes of it: once this step is on disk, the node may forget the step.
    emit(effect::StepEndKnown{event.node, report.key});
    Job* job = find_job(report.key.job);
    const auto step = steps_.find(report.key);
    if (job == nullptr || step == steps_.end()) return;
    const bool present = job->attempt == report.key.attempt &&
                         !std::holds_alternative<model::Ended>(job->phase) &&
                         !std::holds_alternative<model::Pending>(job->phase);
    const bool awaited = std::ranges::find(step->second.running_nodes, event.node) !=
                         step->second.running_nodes.end();
    if (awaited) step_node_ended(*job, step->second, event.node, report);
    if (!present) return;
    // The node said "nothing else is left" before it heard of a step that was launched meanwhile.
    StepReport judged = report;
    judged.job_clean = report.job_clean && !has_step_on(*job, event.node);
    if (awaited && report.key.step == kBatchStep) {
        batch_ended(*job, judged, event.node);
    } else if (judged.job_clean) {
        node_is_clean(*job, event.node);
    }
    // A step over several components waits with the first of them.
    for (const JobId id : components_of(*job)) retry_waiting_steps(id);
}

bool Cluster::Impl::has_step_on(const Job& job, const std::string& node) const {
    const auto own_side = sides_.find(job.id);
    if (own_side == sides_.end()) return false;
    return std::ranges::any_of(own_side->second.active_steps, [&](StepId id) {
        const auto step = steps_.find(StepKey{job.id, job.attempt, id});
        if (step == steps_.end()) return false;
        const auto& running = step->second.running_nodes;
        return std::ranges::find(running, node) != running.end();
    });
}

void Cluster::Impl::step_node_ended(Job& job, model::Step& step, const std::string& node,
                                    const StepReport& report) {
    std::erase(step.running_nodes, node);
    model::ExitStatus exit = report.exit;
    if (exit.ok() && report.timed_out) exit.signal = 15;
    if (exit.ok() && report.lost) exit.signal = 9;
    if (exit.ok() && report.out_of_memory) exit.signal = 9;
    if (exit.ok() && !report.launch_error.empty()) exit.code = 1;
    if (is_worse(exit, step.worst_exit)) step.worst_exit = exit;
    model::merge(step.usage, report.usage);
    touch(step);
    if (!step.running_nodes.empty()) return;
    model::StepEnd end{now_, model::JobState::Completed, step.worst_exit};
    const model::Outcome* outcome = model::outcome_of(job);
    const bool cancelled = outcome != nullptr && (outcome->state == model::JobState::Cancelled ||
                                                  outcome->state == model::JobState::Timeout);
    if (report.out_of_memory) {
        end.state = model::JobState::OutOfMemory;
    } else if (report.timed_out || (cancelled && step.worst_exit.signal != 0) ||
               (step.worst_exit.signal == 15 && job.attempt == step.key.attempt)) {
        end.state = model::JobState::Cancelled;
    } else if (report.lost) {
        end.state = model::JobState::NodeFail;
    } else if (!step.worst_exit.ok()) {
        end.state = model::JobState::Failed;
    }
    step.end = end;
    const StepKey ended = step.key;
    if (job.attempt == step.key.attempt) {
        if (JobSide* own_side = find_side(job.id)) {
            own_side->active_steps.erase(step.key.step);
            own_side->launched_here.erase(step.key.step);
        }
    }
    tell_watchers(job, ended);
}

// Nothing of the job is left on this node, so its steps there are over whether or not they said so.
void Cluster::Impl::close_steps_on(Job& job, const std::string& node) {
    const JobSide* own_side = find_side(job.id);
    if (own_side == nullptr) return;
    const std::set<StepId> active = own_side->active_steps;
    for (const StepId id : active) {
        const auto step = steps_.find(StepKey{job.id, job.attempt, id});
        if (step == steps_.end()) continue;
        if (std::ranges::find(step->second.running_nodes, node) == step->second.running_nodes.end())
            continue;
        StepReport report;
        report.key = step->first;
        report.lost = true;
        step_node_ended(job, step->second, node, report);
    }
}

void Cluster::Impl::on(const event::JobClean& event) {
    if (const auto node = node_index(event.node)) {
        if (node_sides_[*node].ghosts.erase({event.job, event.attempt}) > 0) refresh_node(*node);
    }
    Job* job = find_job(event.job);
    if (job == nullptr || job->attempt != event.attempt) return;
    node_is_clean(*job, event.node);
}

model::ExitStatus Cluster::Impl::worst_step_exit(const Job& job) const {
    model::ExitStatus worst;
    const auto first = steps_.lower_bound(StepKey{job.id, job.attempt, StepId{0}});
    for (auto at = first;
         at != steps_.end() && at->first.job == job.id && at->first.attempt == job.attempt; ++at) {
        if (at->first.step == kBatchStep) continue;
        if (is_worse(at->second.worst_exit, worst)) worst = at->second.worst_exit;
    }
    return worst;
}

// The script is over, and with it the run.
void Cluster::Impl::batch_ended(Job& job, const StepReport& report, const std::string& node) {
    if (auto* completing = std::get_if<model::Completing>(&job.phase)) {
        // It was already ending for another reason; only the exit is news.
        const model::JobState state = completing->outcome.state;
        if (state == model::JobState::Cancelled || state == model::JobState::Timeout) {
            completing->outcome.exit = report.exit;
            touch(job);
        }
        if (report.job_clean) node_is_clean(job, node);
        return;
    }
    using Next = model::Completing::Next;
    model::Outcome outcome;
    outcome.exit = report.exit;
    Next next = Next::End;
    EndCause cause = EndCause::Finished;
    const bool may_requeue = job.spec->requeue.value_or(settings_.requeue_by_default);
    if (!report.launch_error.empty() && report.exit.ok()) {
        outcome.state = model::JobState::NodeFail;
        outcome.reason = model::Reason::JobLaunchFailure;
        const std::uint32_t failures = ++side(job.id).launch_failures;
        next = failures >= kLaunchAttemptsMax ? Next::RequeueHold : Next::Requeue;
        job.system_comment = report.launch_error;
        cause = EndCause::Requeued;
    } else if (report.lost) {
        outcome.state = model::JobState::NodeFail;
        outcome.reason = model::Reason::NodeFail;
        if (may_requeue) next = Next::Requeue;
        cause = EndCause::NodeFailed;
    } else if (report.timed_out) {
        outcome.state = model::JobState::Timeout;
        outcome.reason = model::Reason::TimeLimit;
        if (outcome.exit.ok()) outcome.exit.signal = 15;
        cause = EndCause::TimeLimit;
    } else if (report.out_of_memory) {
        outcome.state = model::JobState::OutOfMemory;
        outcome.reason = model::Reason::OutOfMemory;
        outcome.exit = {0, 125};
    } else if (!report.exit.ok()) {
        outcome.state = model::JobState::Failed;
        outcome.reason =
            report.exit.signal != 0 ? model::Reason::RaisedSignal : model::Reason::NonZeroExitCode;
        if (!report.launch_error.empty()) job.system_comment = report.launch_error;
    }
    std::set<std::string> clean;
    if (report.job_clean) clean.insert(node);
    end_run(job, outcome, cause, settings_.kill_wait, next, clean);
}

}  // namespace switchyard::core
