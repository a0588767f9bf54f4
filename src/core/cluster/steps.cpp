// steps.cpp: steps are made, begin, and end node by node.

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

constexpr std::size_t kStepTriesMax = 100;

// The worse of two exits, as srun judges: a signal beats a code, a higher code a lower.
bool is_worse(const model::ExitStatus& a, const model::ExitStatus& b) {
    const auto weight = [](const model::ExitStatus& e) {
        return std::pair(e.signal != 0 ? 1 : 0, e.signal + e.code);
    };
    return weight(a) > weight(b);
}

}  // namespace

namespace {

Status check_step(model::StepSpec& spec) {
    tidy(spec);
    SY_CHECK(check_texts(spec));
    return check_values(spec);
}

}  // namespace

void Cluster::Impl::on(const event::CreateStep& asked) {
    event::CreateStep event = asked;
    Status fine = check_step(event.spec);
    for (event::CreateStep::Part& part : event.more) {
        if (fine) fine = check_step(part.spec);
    }
    if (fine && event.more.size() >= limits::kHetComponentsMax) fine = fail(Errc::InvalidArgument);
    if (!fine) return reply(event.token, reply::Failed{fine.error(), {}});
    const StepTry outcome = try_step(event, true);
    if (outcome != StepTry::Busy) return;
    if (event.spec.immediate) return refuse(event.token, Errc::NodesBusy);
    if (event.spec.detached) return queue_step(event);
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
        if (model::is_pending(steps_.at(key))) continue;
        JobSide& own_side = side(key.job);
        own_side.launched_here.insert(key.step);
        for (const std::string& node : steps_.at(key).running_nodes)
            own_side.doubted.erase({key.step, node});
        launch_step(key);
    }
    return true;
}

Cluster::Impl::StepTry Cluster::Impl::try_step(const event::CreateStep& event, bool first_time) {
    const auto refused = [&](const Error& why) {
        reply(event.token, reply::Failed{why, {}});
        return StepTry::Refused;
    };
    const Job* job = find_job(event.job);
    if (job == nullptr) return refused(fail(Errc::InvalidJobId).error);
    if (!may_touch(event.caller, *job)) return refused(fail(Errc::AccessDenied).error);
    if (event.nonce != 0 && first_time && answer_repeated(event)) return StepTry::Made;
    if (!has_numbers_left(event)) return refused(fail(Errc::StepLimit).error);
    auto plans = plan_step(event);
    if (!plans && plans.error().code == Errc::NodesBusy) return StepTry::Busy;
    if (!plans) return refused(plans.error());
    const std::vector<StepKey> keys = record_steps(event);
    for (std::size_t i = 0; i < keys.size(); ++i)
        begin_step(steps_.at(keys[i]), std::move((*plans)[i]));
    reply(event.token, reply::StepMade{keys.front(), {keys.begin() + 1, keys.end()}});
    for (const StepKey& key : keys) launch_step(key);
    return StepTry::Made;
}

bool Cluster::Impl::has_numbers_left(const event::CreateStep& event) const {
    const auto left = [&](JobId id) {
        const Job* job = find_job(id);
        return job == nullptr || job->next_step < limits::kStepsPerJobMax;
    };
    return left(event.job) && std::ranges::all_of(event.more, left, &event::CreateStep::Part::job);
}

// Whether the job runs and takes steps. NodesBusy: not now.
Status Cluster::Impl::may_step(const event::CreateStep& event) const {
    const Job* job = find_job(event.job);
    if (job == nullptr) return fail(Errc::InvalidJobId);
    if (!may_touch(event.caller, *job)) return fail(Errc::AccessDenied);
    if (std::holds_alternative<model::Pending>(job->phase)) return fail(Errc::JobPending);
    if (std::holds_alternative<model::Suspended>(job->phase)) return fail(Errc::NodesBusy);
    if (!std::holds_alternative<model::Running>(job->phase)) return fail(Errc::JobFinished);
    if (is_configuring(*job)) return fail(Errc::NodesBusy);
    if (waits_for_nodes(*job)) return fail(Errc::NodesBusy);
    const auto own_side = sides_.find(job->id);
    const bool has_interactive =
        own_side != sides_.end() && own_side->second.active_steps.contains(kInteractiveStep);
    if (event.spec.interactive && has_interactive) return fail(Errc::StepLimit);
    return {};
}

// Where all of it can begin now, part by part. NodesBusy: nowhere yet.
Result<std::vector<Cluster::Impl::StepPlan>> Cluster::Impl::plan_step(
    const event::CreateStep& event) const {
    if (!event.more.empty()) return plan_parts(event);
    SY_CHECK(may_step(event));
    StepPlan plan;
    SY_TRY(plan.layout, lay_out_step(jobs_.at(event.job), event));
    SY_TRY(plan.ports, reserve_ports(event.spec, plan.layout));
    return std::vector{std::move(plan)};
}

// Records that have not begun, with one number in all jobs that have a part.
std::vector<StepKey> Cluster::Impl::record_steps(const event::CreateStep& event) {
    std::vector<event::CreateStep::Part> parts{{event.job, event.spec}};
    parts.insert(parts.end(), event.more.begin(), event.more.end());
    std::uint32_t number = 0;
    // Components of a heterogeneous job count their steps together.
    for (const JobId id : components_of(jobs_.at(event.job)))
        number = std::max(number, jobs_.at(id).next_step);
    std::vector<StepKey> keys;
    for (const auto& [id, spec] : parts) {
        Job& job = jobs_.at(id);
        model::Step step;
        step.key = {id, job.attempt, spec.interactive ? kInteractiveStep : StepId{number}};
        if (!spec.interactive) job.next_step = number + 1;
        step.nonce = event.nonce;
        step.spec = spec;
        step.spec.detached = event.spec.detached;  // It is one srun's.
        step.submitted = now_;
        touch(job);
        touch(step);
        keys.push_back(step.key);
        steps_.insert_or_assign(step.key, std::move(step));
    }
    return keys;
}

// There is room: from here on its nodes are told of it.
void Cluster::Impl::begin_step(model::Step& step, StepPlan plan) {
    step.layout = std::move(plan.layout);
    step.resv_ports = std::move(plan.ports);
    step.het = plan.het;
    step.started = now_;
    for (const model::StepNode& node : step.layout.nodes)
        step.running_nodes.push_back(node.grant.node);
    JobSide& own_side = side(step.key.job);
    own_side.active_steps.insert(step.key.step);
    own_side.launched_here.insert(step.key.step);
    touch(step);
}

void Cluster::Impl::launch_step(const StepKey& key) {
    for (const std::string& node : steps_.at(key).running_nodes) launch_on(node, key);
}

// What a node hears of late, while the job is suspended, stands still from the beginning. One that
// has to say first what it began is told afterwards.
void Cluster::Impl::launch_on(const std::string& node, const StepKey& key) {
    if (const auto index = node_index(node); index && node_sides_[*index].owes_journal) return;
    emit(effect::LaunchStep{node, key});
    if (std::holds_alternative<model::Suspended>(jobs_.at(key.job).phase))
        emit(effect::Freeze{node, key.job, key.attempt, false});
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
    // More than there are is no matter of waiting.
    if (settings_.last_port - settings_.first_port + 1 < wanted)
        return fail(Errc::InvalidArgument, "Requested ports are in use");
    if (free.size() < wanted) return fail(Errc::NodesBusy, "Requested ports are in use");
    return to_string(free.first(wanted));
}

// In the order in which they came; one that fits does not wait for one that does not. When the
// first many find no room the others are not looked at: one end of a step costs no more than that.
void Cluster::Impl::retry_waiting_steps(JobId id) {
    JobSide* own_side = find_side(id);
    if (own_side == nullptr) return;
    const Attempt attempt = jobs_.at(id).attempt;
    std::vector<WaitingStep>& waiting = own_side->waiting_steps;
    for (std::size_t busy = 0; busy < waiting.size() && busy < kStepTriesMax;) {
        // Looked at where it lies: most of them find no room. A record leaves the list by itself.
        if (const auto record = waiting[busy].record) {
            if (try_queued({id, attempt, *record}) == StepTry::Busy) ++busy;
        } else if (try_step(waiting[busy].request, false) == StepTry::Busy) {
            ++busy;
        } else {
            const Token token = waiting[busy].request.token;
            waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(busy));
            drop_token(token, id);
        }
    }
}

void Cluster::Impl::on(const event::StepStarted& event) {
    JobSide* own_side = find_side(event.key.job);
    Job* job = find_job(event.key.job);
    if (own_side == nullptr || job == nullptr || job->attempt != event.key.attempt) return;
    if (!speaks_for(event.node, *job)) return;
    own_side->seen.insert({event.key.step, event.node});
    own_side->doubted.erase({event.key.step, event.node});
    if (event.key.step == kBatchStep) script_began(*job);
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
    if (!present || !speaks_for(event.node, *job)) return;
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
        auto& ghosts = node_sides_[*node].ghosts;
        if (ghosts.erase({event.job, event.attempt}) > 0) {
            refresh_node(*node);
            if (ghosts.empty()) ghosts_left(*node);
        }
    }
    Job* job = find_job(event.job);
    if (job == nullptr || job->attempt != event.attempt || !speaks_for(event.node, *job)) return;
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
        if (may_run_again(job)) next = Next::Requeue;
        if (report.begun_before) job.system_comment = "its script had begun before on node " + node;
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
