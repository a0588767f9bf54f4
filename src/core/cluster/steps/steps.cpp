// steps.cpp: a step is asked for, planned, recorded and launched.

#include "core/cluster/steps/steps.hpp"

#include <algorithm>
#include <utility>

#include "base/limits.hpp"
#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/job_facts.hpp"

namespace switchyard::core {
namespace {

constexpr std::size_t kStepTriesMax = 100;

Status check_step(model::StepSpec& spec) {
    tidy(spec);
    SY_CHECK(check_texts(spec));
    return check_values(spec);
}

}  // namespace

void Steps::on(const event::CreateStep& asked) {
    event::CreateStep event = asked;
    Status fine = check_step(event.spec);
    for (event::CreateStep::Part& part : event.more) {
        if (fine) fine = check_step(part.spec);
    }
    if (fine && event.more.size() >= limits::kHetComponentsMax) fine = fail(Errc::InvalidArgument);
    if (!fine) return world_.reply(event.token, reply::Failed{fine.error(), {}});
    const Try outcome = try_step(event, true);
    if (outcome != Try::Busy) return;
    if (event.spec.immediate) return world_.refuse(event.token, Errc::NodesBusy);
    if (event.spec.detached) return queue(event);
    sides_[event.job].waiting.push_back({event});
    waiters_.wait_for_step(event.token, event.job);
    world_.reply(event.token, reply::StepWaits{Errc::NodesBusy}, false);
}

// A step that is already here, asked for again because the answer was lost: true if it was one.
bool Steps::answer_repeated(const event::CreateStep& event) {
    std::vector<JobId> jobs{event.job};
    for (const event::CreateStep::Part& part : event.more) jobs.push_back(part.job);
    std::vector<StepKey> keys;
    for (const JobId id : jobs) {
        const Job* job = world_.find_job(id);
        if (job == nullptr) return false;
        const auto first = world_.steps.lower_bound(StepKey{id, job->attempt, StepId{0}});
        for (auto at = first;
             at != world_.steps.end() && at->first.job == id && at->first.attempt == job->attempt;
             ++at) {
            if (at->second.nonce == event.nonce) keys.push_back(at->first);
        }
    }
    if (keys.size() != jobs.size()) return false;
    // The answer goes first: by it the shell knows which step its srun's command line belongs to.
    world_.reply(event.token, reply::StepMade{keys.front(), {keys.begin() + 1, keys.end()}});
    for (const StepKey& key : keys) {
        if (model::is_pending(world_.steps.at(key))) continue;
        Side& own_side = sides_[key.job];
        own_side.launched_here.insert(key.step);
        for (const std::string& node : world_.steps.at(key).running_nodes)
            own_side.doubted.erase({key.step, node});
        launch(key);
    }
    return true;
}

Steps::Try Steps::try_step(const event::CreateStep& event, bool first_time) {
    const auto refused = [&](const Error& why) {
        world_.reply(event.token, reply::Failed{why, {}});
        return Try::Refused;
    };
    const Job* job = world_.find_job(event.job);
    if (job == nullptr) return refused(fail(Errc::InvalidJobId).error);
    if (!world_.rights_of(event.caller).may_change_job(job->spec->uid))
        return refused(fail(Errc::AccessDenied).error);
    if (event.nonce != 0 && first_time && answer_repeated(event)) return Try::Made;
    if (!has_numbers_left(event)) return refused(fail(Errc::StepLimit).error);
    auto plans = plan(event);
    if (!plans && plans.error().code == Errc::NodesBusy) return Try::Busy;
    if (!plans) return refused(plans.error());
    const std::vector<StepKey> keys = record(event);
    for (std::size_t i = 0; i < keys.size(); ++i)
        begin(world_.steps.at(keys[i]), std::move((*plans)[i]));
    world_.reply(event.token, reply::StepMade{keys.front(), {keys.begin() + 1, keys.end()}});
    for (const StepKey& key : keys) launch(key);
    return Try::Made;
}

bool Steps::has_numbers_left(const event::CreateStep& event) const {
    const auto left = [&](JobId id) {
        const Job* job = world_.find_job(id);
        return job == nullptr || job->next_step < limits::kStepsPerJobMax;
    };
    return left(event.job) && std::ranges::all_of(event.more, left, &event::CreateStep::Part::job);
}

// Whether the job runs and takes steps. NodesBusy: not now.
Status Steps::may_step(const event::CreateStep& event) const {
    const Job* job = world_.find_job(event.job);
    if (job == nullptr) return fail(Errc::InvalidJobId);
    if (!world_.rights_of(event.caller).may_change_job(job->spec->uid))
        return fail(Errc::AccessDenied);
    if (std::holds_alternative<model::Pending>(job->phase)) return fail(Errc::JobPending);
    if (std::holds_alternative<model::Suspended>(job->phase)) return fail(Errc::NodesBusy);
    if (!std::holds_alternative<model::Running>(job->phase)) return fail(Errc::JobFinished);
    if (is_configuring(*job)) return fail(Errc::NodesBusy);
    if (restore_.waits_for_nodes(*job)) return fail(Errc::NodesBusy);
    if (event.spec.interactive && active(job->id).contains(kInteractiveStep))
        return fail(Errc::StepLimit);
    return {};
}

// Where all of it can begin now, part by part. NodesBusy: nowhere yet.
Result<std::vector<Steps::Plan>> Steps::plan(const event::CreateStep& event) const {
    if (!event.more.empty()) return plan_parts(event);
    SY_CHECK(may_step(event));
    Plan plan;
    SY_TRY(plan.layout, lay_out(world_.jobs.at(event.job), event));
    SY_TRY(plan.ports, reserve_ports(event.spec, plan.layout));
    return std::vector{std::move(plan)};
}

// One srun in several components: every part is laid out before the first is made.
Result<std::vector<Steps::Plan>> Steps::plan_parts(const event::CreateStep& event) const {
    std::vector<event::CreateStep> parts{event};
    parts.back().more.clear();
    for (const event::CreateStep::Part& part : event.more) {
        parts.push_back(parts.front());
        parts.back().job = part.job;
        parts.back().spec = part.spec;
    }
    const JobId leader = hets_.leader_of(world_.jobs.at(event.job)).id;
    // What is wrong with one of them is told before any is found busy: it may be queued then.
    for (const event::CreateStep& part : parts) {
        const Job* job = world_.find_job(part.job);
        if (job == nullptr || !job->het || job->het->leader != leader)
            return fail(Errc::InvalidJobId);
        const Status may = may_step(part);
        if (!may && may.error().code != Errc::NodesBusy) return Failure{may.error()};
    }
    std::vector<Plan> plans;
    model::HetStep place;
    for (const event::CreateStep& part : parts) {
        SY_CHECK(may_step(part));
        Plan plan;
        SY_TRY(plan.layout, lay_out(world_.jobs.at(part.job), part));
        place.tasks += plan.layout.task_count();
        place.nodes += static_cast<std::uint32_t>(plan.layout.nodes.size());
        plans.push_back(std::move(plan));
    }
    for (Plan& plan : plans) {
        plan.het = place;
        place.task_offset += plan.layout.task_count();
        place.node_offset += static_cast<std::uint32_t>(plan.layout.nodes.size());
    }
    return plans;
}

// Records that have not begun, with one number in all jobs that have a part.
std::vector<StepKey> Steps::record(const event::CreateStep& event) {
    std::vector<event::CreateStep::Part> parts{{event.job, event.spec}};
    parts.insert(parts.end(), event.more.begin(), event.more.end());
    std::uint32_t number = 0;
    // Components of a heterogeneous job count their steps together.
    for (const JobId id : hets_.components_of(world_.jobs.at(event.job)))
        number = std::max(number, world_.jobs.at(id).next_step);
    std::vector<StepKey> keys;
    for (const auto& [id, spec] : parts) {
        Job& job = world_.jobs.at(id);
        model::Step step;
        step.key = {id, job.attempt, spec.interactive ? kInteractiveStep : StepId{number}};
        if (!spec.interactive) job.next_step = number + 1;
        step.nonce = event.nonce;
        step.spec = spec;
        step.spec.detached = event.spec.detached;  // It is one srun's.
        step.submitted = world_.now;
        world_.touch(job);
        world_.touch(step);
        keys.push_back(step.key);
        world_.steps.insert_or_assign(step.key, std::move(step));
    }
    return keys;
}

// There is room: from here on its nodes are told of it.
void Steps::begin(model::Step& step, Plan plan) {
    step.layout = std::move(plan.layout);
    step.resv_ports = std::move(plan.ports);
    step.het = plan.het;
    step.started = world_.now;
    for (const model::StepNode& node : step.layout.nodes)
        step.running_nodes.push_back(node.grant.node);
    Side& own_side = sides_[step.key.job];
    own_side.active.insert(step.key.step);
    own_side.launched_here.insert(step.key.step);
    world_.touch(step);
}

void Steps::launch(const StepKey& key) {
    for (const std::string& node : world_.steps.at(key).running_nodes) launch_on(node, key);
}

// --resv-ports: numbers that no other step has on any of these nodes.
Result<std::string> Steps::reserve_ports(const model::StepSpec& spec,
                                         const model::StepLayout& layout) const {
    if (!spec.resv_ports) return std::string();
    if (world_.settings.last_port == 0) return fail(Errc::Unsupported, "No reserved ports defined");
    std::uint64_t wanted = *spec.resv_ports;
    std::set<std::string> nodes;
    for (const model::StepNode& node : layout.nodes) {
        if (*spec.resv_ports == 0) wanted = std::max<std::uint64_t>(wanted, node.tasks.size());
        nodes.insert(node.grant.node);
    }
    model::IndexSet free;
    free.insert(model::IndexSet::Interval{world_.settings.first_port, world_.settings.last_port});
    for (const auto& [key, step] : world_.steps) {
        if (step.resv_ports.empty() || step.end) continue;
        const auto here = [&](const std::string& node) { return nodes.contains(node); };
        if (std::ranges::none_of(step.running_nodes, here)) continue;
        if (const auto taken = model::parse_index_set(step.resv_ports)) free.erase(*taken);
    }
    // More than there are is no matter of waiting.
    if (world_.settings.last_port - world_.settings.first_port + 1 < wanted)
        return fail(Errc::InvalidArgument, "Requested ports are in use");
    if (free.size() < wanted) return fail(Errc::NodesBusy, "Requested ports are in use");
    return to_string(free.first(wanted));
}

// When the first many find no room the others are not looked at: one end of a step costs no more
// than that.
void Steps::retry_waiting(JobId id) {
    Side* own_side = find_side(id);
    if (own_side == nullptr) return;
    const Attempt attempt = world_.jobs.at(id).attempt;
    std::vector<Waiting>& waiting = own_side->waiting;
    for (std::size_t busy = 0; busy < waiting.size() && busy < kStepTriesMax;) {
        // Looked at where it lies: most of them find no room. A record leaves the list by itself.
        if (const auto record = waiting[busy].record) {
            if (try_queued({id, attempt, *record}) == Try::Busy) ++busy;
        } else if (try_step(waiting[busy].request, false) == Try::Busy) {
            ++busy;
        } else {
            const Token token = waiting[busy].request.token;
            waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(busy));
            waiters_.drop(token, id);
        }
    }
}

void Steps::token_gone(Token token, const std::set<JobId>& jobs) {
    for (const JobId id : jobs) {
        Side* own_side = find_side(id);
        if (own_side == nullptr) continue;
        std::erase_if(own_side->waiting,
                      [&](const Waiting& step) { return step.request.token == token; });
    }
}

}  // namespace switchyard::core
