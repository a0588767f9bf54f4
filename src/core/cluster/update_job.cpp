// update_job.cpp: `scontrol update job`. What shapes an allocation can be changed only while the
// job waits.

#include <algorithm>

#include "core/cluster/check_texts.hpp"
#include "core/cluster/check_values.hpp"
#include "core/cluster/selected.hpp"

namespace switchyard::core {
namespace {

template <class T>
void assign(T& field, const std::optional<T>& value) {
    if (value) field = *value;
}
template <class T>
void assign(std::optional<T>& field, const std::optional<T>& value) {
    if (value) field = *value;
}

// Rows of the table of updates (model/job_fields.hpp) by when they count.
#define SY_ASK_SHAPE_Always(member)
#define SY_ASK_SHAPE_ByHand(member)
#define SY_ASK_SHAPE_Shape(member) || update.member
#define SY_ASK_SHAPE_ShapeByHand(member) || update.member
#define SY_ASK_SHAPE(type, member, key, when, ...) SY_ASK_SHAPE_##when(member)
#define SY_IN_SHAPE_Always(member)
#define SY_IN_SHAPE_ByHand(member)
#define SY_IN_SHAPE_Shape(member) assign(spec.member, update.member);
#define SY_IN_SHAPE_ShapeByHand(member)
#define SY_IN_SHAPE(type, member, key, when, ...) SY_IN_SHAPE_##when(member)
#define SY_ANY_TIME_Always(member) assign(spec.member, update.member);
#define SY_ANY_TIME_ByHand(member)
#define SY_ANY_TIME_Shape(member)
#define SY_ANY_TIME_ShapeByHand(member)
#define SY_ANY_TIME(type, member, key, when, ...) SY_ANY_TIME_##when(member)

bool changes_shape(const model::JobUpdate& update) {
    return false SY_JOB_UPDATE_FIELDS(SY_ASK_SHAPE);
}

// What a job that has started is asked to have and has already.
void drop_present(const Job& job, model::JobUpdate& update) {
    const model::Allocation* allocation = model::allocation_of(job);
    if (allocation == nullptr) return;
    const std::vector<std::string> nodes = allocation->node_names();
    if (update.nodes_min == nodes.size() && update.nodes_max == nodes.size()) {
        update.nodes_min.reset();
        update.nodes_max.reset();
    }
    if (update.partitions == std::vector{job.partition}) update.partitions.reset();
    if (update.required_nodes && std::ranges::is_permutation(*update.required_nodes, nodes))
        update.required_nodes.reset();
    // Those count for a start that is over.
    update.time_min.reset();
    update.deadline.reset();
}

// An allocation is not made smaller while it is in use; other nodes than its own it never gets.
std::optional<Errc> check_resize(const Job& job, const model::JobUpdate& update) {
    const model::Allocation* allocation = model::allocation_of(job);
    if (allocation == nullptr) return std::nullopt;
    if (update.required_nodes) {
        const bool own = std::ranges::all_of(*update.required_nodes, [&](const std::string& node) {
            return allocation->find(node) != nullptr;
        });
        return own ? Errc::Unsupported : Errc::InvalidNodeName;
    }
    const bool fewer = update.nodes_max && *update.nodes_max < allocation->nodes.size();
    return fewer ? std::optional(Errc::Unsupported) : std::nullopt;
}

model::TimeLimit changed_limit(const std::optional<model::TimeLimit>& old,
                               const model::TimeLimitChange& change) {
    using Mode = model::TimeLimitChange::Mode;
    if (change.mode == Mode::Set || !old || old->unlimited) return change.limit;
    model::TimeLimit limit = *old;
    const Seconds delta = change.limit.seconds;
    limit.seconds = change.mode == Mode::Add ? limit.seconds + delta
                                             : std::max(Seconds{60}, limit.seconds - delta);
    return limit;
}

}  // namespace

std::optional<Errc> Cluster::Impl::update_time_limit(Job& job, const event::UpdateJob& event,
                                                     JobSpec& spec) {
    if (!event.update.time_limit) return std::nullopt;
    const model::TimeLimit limit = changed_limit(spec.time_limit, *event.update.time_limit);
    const bool raises = spec.time_limit && *spec.time_limit < limit;
    const bool pending = std::holds_alternative<model::Pending>(job.phase);
    // Only an administrator gives a running job more time; a waiting one may ask for what its
    // partition allows.
    if (raises && !rights_of(event.caller).may_extend_limits()) {
        const model::Partition* partition = partition_of(job);
        if (!pending || partition == nullptr || partition->max_time < limit)
            return Errc::AccessDenied;
    }
    spec.time_limit = limit;
    return std::nullopt;
}

// EndTime: the limit follows from it.
std::optional<Errc> Cluster::Impl::update_end(const Job& job, const event::UpdateJob& event,
                                              JobSpec& spec) const {
    if (!event.update.end) return std::nullopt;
    const auto* run = std::get_if<model::Running>(&job.phase);
    if (run == nullptr) return Errc::JobNotRunning;
    const Instant end = *event.update.end;
    if (end < now_) return Errc::InvalidTime;
    const bool later = run->ends_by && *run->ends_by < end;
    if (later && !rights_of(event.caller).may_extend_limits()) return Errc::AccessDenied;
    model::TimeLimit limit;
    limit.seconds = std::chrono::ceil<Seconds>(end - run->started) - run->suspended_for;
    spec.time_limit = limit;
    return std::nullopt;
}

// TimeMin: none is above the limit; 0 takes it back.
std::optional<Errc> Cluster::Impl::update_time_min(const model::JobUpdate& update,
                                                   JobSpec& spec) const {
    if (!update.time_min) return std::nullopt;
    if (!update.time_min->unlimited && update.time_min->seconds == Seconds{0}) {
        spec.time_min.reset();
        return std::nullopt;
    }
    if (spec.time_limit && *spec.time_limit < *update.time_min) return Errc::InvalidTimeMin;
    spec.time_min = update.time_min;
    return std::nullopt;
}

// NumCPUs is shared out evenly among the least number of nodes.
std::optional<Errc> Cluster::Impl::update_cpus(const model::JobUpdate& update,
                                               JobSpec& spec) const {
    if (!update.cpus) return std::nullopt;
    const std::uint32_t nodes = std::max(1u, spec.nodes_min.value_or(1));
    const std::uint64_t tasks =
        std::uint64_t{spec.tasks.value_or(nodes)} * spec.cpus_per_task.value_or(1);
    const std::uint32_t each = (*update.cpus + nodes - 1) / nodes;
    const bool fits = std::ranges::any_of(
        nodes_, [&](const model::Node& node) { return node.config.cpus >= each; });
    if (*update.cpus < tasks || !fits) return Errc::InvalidCpuCount;
    spec.cpus_per_node_min = each;
    return std::nullopt;
}

std::optional<Errc> Cluster::Impl::update_prefer(const model::JobUpdate& update,
                                                 JobSpec& spec) const {
    if (!update.prefer) return std::nullopt;
    if (!is_known_constraint(*update.prefer)) return Errc::InvalidPreference;
    spec.prefer = *update.prefer;
    return std::nullopt;
}

std::optional<Errc> Cluster::Impl::update_shape(Job& job, const model::JobUpdate& update,
                                                const Caller& caller, JobSpec& spec) {
    auto& pending = std::get<model::Pending>(job.phase);
    SY_JOB_UPDATE_FIELDS(SY_IN_SHAPE)
    assign(spec.cpus_per_node_min, update.cpus_min);
    if (update.nodes_min && !update.nodes_max) spec.nodes_max = *update.nodes_min;
    if (update.core_spec) {
        if (!rights_of(caller).may_set_admin_fields()) return Errc::AccessDenied;
        spec.core_spec.reset();
        if (*update.core_spec >= 0) spec.core_spec = static_cast<std::uint32_t>(*update.core_spec);
    }
    if (const auto problem = update_prefer(update, spec)) return problem;
    if (const auto problem = update_cpus(update, spec)) return problem;
    if (update.dependency) {
        spec.dependency = *update.dependency;
        if (dependencies_.depends_on(spec, job.id)) return Errc::DependencyProblem;
    }
    std::vector<std::string> notes;
    tidy(spec, true);  // What was kept of it was tidied for its user.
    Status status = check_texts(spec);
    if (status) status = check_values(spec);
    if (status) status = complete_spec(spec, notes);
    if (status) limit_memory(spec);
    if (status) status = validate(spec, caller, notes);
    if (!status) return status.error().code;
    if (update.begin) {
        spec.begin = *update.begin;
        pending.eligible_at = std::max(now_, *update.begin);
        pending.reason = model::Reason::None;
    }
    job.partition = spec.partitions.front();
    return std::nullopt;
}

std::optional<Errc> Cluster::Impl::update_one(Job& job, const event::UpdateJob& event) {
    model::JobUpdate update = event.update;
    if (std::holds_alternative<model::Ended>(job.phase) ||
        std::holds_alternative<model::Completing>(job.phase)) {
        const bool harmless = update.comment || update.admin_comment || update.extra;
        if (!harmless || update.time_limit || update.end || changes_shape(update))
            return Errc::JobFinished;
    }
    const bool pending = std::holds_alternative<model::Pending>(job.phase);
    if (!pending) drop_present(job, update);
    if (!pending && changes_shape(update)) {
        const auto problem = check_resize(job, update);
        return problem ? problem : std::optional(Errc::JobNotPending);
    }
    const auto begin = update.begin ? update.begin : job.spec->begin;
    const auto deadline = update.deadline ? update.deadline : job.spec->deadline;
    if (pending && (update.deadline || update.begin) && deadline &&
        *deadline <= std::max(now_, begin.value_or(now_)))
        return Errc::InvalidTime;
    const model::Rights rights = rights_of(event.caller);
    if (update.admin_comment && !rights.may_set_admin_fields()) return Errc::AccessDenied;
    if (update.nice && *update.nice < job.spec->nice && !rights.may_raise_priority())
        return Errc::AccessDenied;
    if (update.priority && *update.priority > job.priority && !rights.may_raise_priority())
        return Errc::AccessDenied;

    JobSpec spec = *job.spec;
    if (const auto problem = update_time_limit(job, event, spec)) return problem;
    if (const auto problem = update_end(job, event, spec)) return problem;
    if (const auto problem = update_time_min(update, spec)) return problem;
    if (pending && changes_shape(update)) {
        if (const auto problem = update_shape(job, update, event.caller, spec)) return problem;
    }
    const std::string old_name = spec.name;
    SY_JOB_UPDATE_FIELDS(SY_ANY_TIME)
    assign(job.admin_comment, update.admin_comment);
    if (update.nice) spec.nice = *update.nice;

    if (pending) dependencies_.forget_terms(job);
    const bool renamed = spec.name != old_name && !std::holds_alternative<model::Ended>(job.phase);
    if (renamed) dependencies_.remove_name(job, old_name);
    world_.replace_spec(job, spec);
    calendar_.load(job);
    if (renamed) dependencies_.add_name(job);
    if (update.array_throttle && job.array) {
        arrays_.set_throttle(job.array->array_id, *update.array_throttle);
    }
    if (auto* waiting = std::get_if<model::Pending>(&job.phase)) {
        dependencies_.add_terms(job);
        const JobId first = job.array ? job.array->array_id : job.id;
        if (update.priority) {
            job.priority = *update.priority;
            waiting->hold = job.priority > 0 ? model::Hold::None
                                             : (rights.may_hold_as_admin() ? model::Hold::Admin
                                                                           : model::Hold::User);
        } else if (update.nice && job.priority != 0) {
            job.priority = base_priority(first, spec, true);
        }
        review(job);
    } else {
        if (update.priority) job.priority = *update.priority;
        if (update.time_limit || update.end) reset_end(job);
    }
    return std::nullopt;
}

void Cluster::Impl::on(const event::UpdateJob& event) {
    Status fine = check_texts(event.update);
    if (fine) fine = check_values(event.update);
    if (!fine) return reply(event.token, reply::Failed{fine.error(), {}});
    auto done = for_each_selected(event.jobs, event.caller,
                                  [&](Job& job) { return update_one(job, event); });
    reply(event.token, std::move(done));
}

}  // namespace switchyard::core
