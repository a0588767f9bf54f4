// checker.cpp: see checker.hpp.

#include "sim/checker.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/testing/describe.hpp"
#include "sim/controller.hpp"
#include "sim/world.hpp"

namespace switchyard::sim {

using core::testing::describe;
using core::testing::name_of;

void Checker::submitted(JobId id, const std::string& name) {
    const auto [at, fresh] = acknowledged_.emplace(id, name);
    if (!fresh && at->second != name)
        violated(fmt::format("id {} was given to {} and to {}", id.value, at->second, name));
    const auto known = names_.find(id);
    if (known != names_.end() && known->second != name) {
        violated(
            fmt::format("id {} belonged to {} and was given to {}", id.value, known->second, name));
    }
}

void Checker::restored(const core::testing::FakeDisk& disk) {
    restored_ = true;
    const auto lost = [&](JobId id) {
        return !disk.jobs().contains(id) && !disk.history().contains(id);
    };
    std::erase_if(acknowledged_, [&](const auto& entry) { return lost(entry.first); });
    std::erase_if(hets_, [&](const auto& entry) { return lost(entry.first); });
    for (const auto& [id, job] : disk.jobs()) {
        rolled_back_.insert(id);
        if (job.array) rolled_back_.insert(job.array->array_id);
    }
    cancelled_.clear();
    async_steps_.clear();
    begun_on_disk_.clear();
}

// A script that began is begun again in the same attempt only if everybody who knew is gone: the
// record was not written yet and the node lost its journal; or the record is a backup, and the node
// lost its journal or has not been heard in time.
bool Checker::may_begin_again(const StepKey& key, const std::string& before,
                              SimController& controller) const {
    if (restored_)
        return emptied_.contains(before) || unheard_.contains(before) ||
               (controller.up() && controller.cluster().asks_begun(before));
    return emptied_.contains(before) && !begun_on_disk_.contains(key);
}

void Checker::seen(const model::Job& job) {
    if (const model::Running* run = model::run_of(job); run != nullptr && run->begun)
        begun_on_disk_.insert({job.id, job.attempt, kBatchStep});
    const auto [at, fresh] = names_.emplace(job.id, job.spec->name);
    if (!fresh && at->second != job.spec->name) {
        violated(fmt::format("id {} was used for {} and for {}", job.id.value, at->second,
                             job.spec->name));
    }
    const auto acknowledged = acknowledged_.find(job.id);
    if (acknowledged != acknowledged_.end() && acknowledged->second != job.spec->name) {
        violated(fmt::format("id {} was acknowledged to {} and used for {}", job.id.value,
                             acknowledged->second, job.spec->name));
    }
}

void Checker::executed(const std::string& node, const StepKey& key, const model::Job& job,
                       const std::vector<StepKey>& alive_there, SimController& controller) {
    if (key.step == kBatchStep) {
        const auto before = began_on_.find(key);
        if (before != began_on_.end() && !may_begin_again(key, before->second, controller))
            violated(fmt::format("{} began on {}, and had begun on {}", name_of(key), node,
                                 before->second));
        began_on_[key] = node;
    } else if (!executed_.insert({node, key}).second && !restored_ && !emptied_.contains(node)) {
        violated(fmt::format("{} was run twice on {}", name_of(key), node));
    }
    seen(job);
    const model::NodeGrant* grant = model::allocation_of(job)->find(node);
    if (grant == nullptr)
        violated(fmt::format("{} runs on {}, which it was not given", name_of(key), node));
    const auto run = std::pair(key.job, key.attempt);
    cores_[{node, run}] = grant->cores;
    for (const StepKey& other : alive_there) {
        const auto other_run = std::pair(other.job, other.attempt);
        // What is launched late for a job that is suspended is frozen with the same message.
        if (other_run == run || std::holds_alternative<model::Suspended>(job.phase)) continue;
        if (cores_[{node, other_run}].intersects(grant->cores)) {
            violated(fmt::format("{} and {} have the same cores of {}", name_of(key),
                                 name_of(other), node));
        }
    }
    if (key.step != kBatchStep) return;
    const auto live = live_script_.find(key.job);
    if (live != live_script_.end()) {
        // Only a node that was given up as dead may still run an older attempt without our knowing.
        const auto& [other, other_node] = live->second;
        const auto off = written_off_.find(other_node);
        const bool given_up = off != written_off_.end() && off->second >= launched_at_[other];
        const bool unknown =
            restored_ && (by_hand_.contains(key.job) || unheard_.contains(other_node) ||
                          controller.cluster().asks_begun(other_node));
        // After a restore another element of an array may have the number, as a new attempt.
        const bool other_element = restored_ && job.array && other.attempt != key.attempt;
        if (!given_up && !unknown && !other_element) {
            violated(fmt::format("{} starts on {} while {} runs on {}", name_of(key), node,
                                 name_of(other), other_node));
        }
    }
    live_script_[key.job] = {key, node};
    launched_at_[key] = now;
    truth_[key].launched = true;
}

void Checker::over(const std::string&, const StepKey& key, const RunTruth& truth) {
    if (key.step != kBatchStep) return;
    truth_[key] = truth;
    const auto live = live_script_.find(key.job);
    if (live != live_script_.end() && live->second.first == key) live_script_.erase(live);
}

bool Checker::some_attempt_ended_well(JobId job) const {
    const auto first = truth_.lower_bound(StepKey{job, Attempt{0}, StepId{0}});
    for (auto at = first; at != truth_.end() && at->first.job == job; ++at) {
        if (at->second.ended_itself && at->second.exit.ok()) return true;
    }
    return false;
}

// What the record says must be what happened to the script of its last attempt.
void Checker::true_ending(const model::Job& job) const {
    const model::Outcome& outcome = *model::outcome_of(job);
    const auto found = truth_.find(StepKey{job.id, job.attempt, kBatchStep});
    const RunTruth truth = found == truth_.end() ? RunTruth{} : found->second;
    const bool batch = job.spec->kind == model::JobKind::Batch;
    const auto wrong = [&](const char* what) {
        violated(fmt::format("{}: {}", describe(job), what));
    };
    if (rolled_back_.contains(job.id) ||
        (job.array && rolled_back_.contains(job.array->array_id))) {
        if (batch && outcome.state == model::JobState::Completed &&
            !some_attempt_ended_well(job.id) && !job.array)
            wrong("no attempt of it ended well");
        return;
    }
    switch (outcome.state) {
        case model::JobState::Deadline:
            if (truth.launched) wrong("it ran, and its deadline is over");
            break;
        case model::JobState::Completed:
            if (batch && (!truth.ended_itself || !truth.exit.ok()))
                wrong("its script did not end well");
            break;
        case model::JobState::Failed:
            if (batch && truth.ended_itself && truth.exit != outcome.exit)
                wrong("its script ended otherwise");
            if (batch && !truth.ended_itself) wrong("its script did not end by itself");
            break;
        case model::JobState::Timeout:
            if (launch_may_wait && found == truth_.end()) break;
            if (job.het) break;  // Any component may have: see components_at_rest().
            if (batch && !truth.timed_out && !truth.killed) wrong("it did not reach its limit");
            break;
        case model::JobState::Cancelled:
            if (outcome.reason == model::Reason::DependencyNeverSatisfied &&
                job.spec->kill_on_invalid_dependency)
                break;
            if (batch && !touched_.contains(job.id) &&
                job.system_comment != "PrologSlurmctld failed" &&
                !(job.het && outcome.reason == model::Reason::JobLaunchFailure) &&
                !(job.array && touched_.contains(job.array->array_id))) {
                wrong("nobody cancelled it");
            }
            break;
        case model::JobState::Preempted:
            if (job.partition != "debug") wrong("nobody comes before it");
            break;
        case model::JobState::NodeFail:
            if (batch && truth.ended_itself && !power_lost_ && written_off_.empty() &&
                emptied_.empty())
                wrong("no node failed");
            break;
        default:
            wrong("a strange state");
    }
}

namespace {

// How much of what is held on a node belongs to the reservation.
enum class Reserved : std::uint8_t { Nothing, Some, All };
Reserved reserved_of(const model::NodeGrant& grant, const model::Reservation& reservation) {
    if (std::ranges::find(reservation.nodes, grant.node) == reservation.nodes.end())
        return Reserved::Nothing;
    if (reservation.has_whole_nodes()) return Reserved::All;
    const model::IndexSet inside = grant.cores.intersection(reservation.cores.at(grant.node));
    if (inside.empty()) return Reserved::Nothing;
    return inside == grant.cores ? Reserved::All : Reserved::Some;
}

// Whether the run, as it began, breaks into this reservation, or out of it.
bool breaks(const model::Running& run, const model::Reservation& reservation, bool comes_first) {
    const Instant end = run.ends_by.value_or(Instant::max());
    const bool mine = run.reservation == reservation.name;
    if (mine && reservation.is(model::ReservationFlag::Flex)) return false;
    for (const model::NodeGrant& grant : run.allocation.nodes) {
        const Reserved reserved = reserved_of(grant, reservation);
        const bool meets = reservation.start < end && reservation.end > run.started;
        if (!mine && reserved != Reserved::Nothing && meets && !comes_first) return true;
        if (mine && (reserved != Reserved::All || !reservation.is_active(run.started))) return true;
    }
    return false;
}

std::string describe(const model::Reservation& reservation) {
    std::string text =
        fmt::format("{} from {} to {} ({})", reservation.name, unix_seconds(reservation.start),
                    unix_seconds(reservation.end), model::format_flags(reservation));
    for (const std::string& node : reservation.nodes) {
        text += " " + node;
        if (!reservation.has_whole_nodes())
            text += "[" + to_string(reservation.cores.at(node)) + "]";
    }
    return text;
}

// Whether two of them have the same cores at the same time, though neither may lie over others.
bool collide(const model::Reservation& a, const model::Reservation& b) {
    using model::ReservationFlag;
    if (a.is(ReservationFlag::Overlap) || b.is(ReservationFlag::Overlap)) return false;
    if (a.start >= b.end || b.start >= a.end) return false;
    return std::ranges::any_of(a.nodes, [&](const std::string& node) {
        if (std::ranges::find(b.nodes, node) == b.nodes.end()) return false;
        if (a.has_whole_nodes() || b.has_whole_nodes()) return true;
        return a.cores.at(node).intersects(b.cores.at(node));
    });
}

}  // namespace

void Checker::reservations_hold(const core::Cluster& cluster) {
    for (const auto& [id, job] : cluster.jobs()) {
        // One that is suspended as soon as it began has begun all the same.
        const model::Running* run = model::run_of(job);
        if (run == nullptr || !begun_.emplace(id, job.attempt).second) continue;
        const auto own = cluster.reservations().find(run->reservation);
        const bool comes_first =
            own != cluster.reservations().end() && own->second.is(model::ReservationFlag::Overlap);
        if (!run->reservation.empty() && own == cluster.reservations().end())
            violated(fmt::format("{} runs in a reservation that is not there", describe(job)));
        for (const auto& [name, reservation] : cluster.reservations()) {
            if (breaks(*run, reservation, comes_first))
                violated(fmt::format(
                    "{} (attempt {}, in '{}', from {} to {}) began against {}", describe(job),
                    job.attempt.value, run->reservation, unix_seconds(run->started),
                    run->ends_by ? unix_seconds(*run->ends_by) : 0, describe(reservation)));
        }
    }
    for (const auto& [name, one] : cluster.reservations()) {
        for (const auto& [other_name, other] : cluster.reservations()) {
            if (name < other_name && collide(one, other))
                violated(fmt::format("these collide: {}; {}", describe(one), describe(other)));
        }
    }
    for (const model::LicenseUse& license : cluster.licenses()) {
        if (license.used > license.total)
            violated(fmt::format("{} of {} licenses of {} are held", license.used, license.total,
                                 license.name));
    }
}

namespace {

// What the phase of a component says about all of them.
enum class Stage { Waits, Runs, Over };

Stage stage_of(const model::Job& job) {
    if (std::holds_alternative<model::Pending>(job.phase)) return Stage::Waits;
    const bool runs = std::holds_alternative<model::Running>(job.phase) ||
                      std::holds_alternative<model::Suspended>(job.phase);
    return runs ? Stage::Runs : Stage::Over;
}

bool reached_limit(const model::Job& job) {
    const auto* ended = std::get_if<model::Ended>(&job.phase);
    const model::Running* run = model::run_of(job);
    return ended != nullptr && run != nullptr && run->ends_by && *run->ends_by <= ended->ended;
}

}  // namespace

void Checker::components_agree(const core::Cluster& cluster) const {
    for (const auto& [id, job] : cluster.jobs()) {
        if (!job.het || job.het->offset == 0) continue;
        const auto found = cluster.jobs().find(job.het->leader);
        if (found == cluster.jobs().end()) continue;
        const model::Job& leader = found->second;
        const Stage mine = stage_of(job), first = stage_of(leader);
        // One that was cancelled alone is over before the others.
        if (mine == Stage::Runs && first != Stage::Runs)
            violated(fmt::format("{} runs without {}", describe(job), describe(leader)));
        if (mine == Stage::Waits && first == Stage::Runs)
            violated(fmt::format("{} was left behind by {}", describe(job), describe(leader)));
        if (mine == Stage::Runs && model::start_of(job) != model::start_of(leader))
            violated(fmt::format("{} began without {}", describe(job), describe(leader)));
    }
}

// All components are there, once; and what became of one became of all, but for those that were
// cancelled alone.
void Checker::components_at_rest(const core::testing::FakeDisk& disk) const {
    const auto record = [&](JobId id) -> const model::Job& {
        const auto found = disk.jobs().find(id);
        return found != disk.jobs().end() ? found->second : disk.history().at(id);
    };
    for (const auto& [id, count] : hets_) {
        const model::Job& leader = record(id);
        const model::Outcome* first = model::outcome_of(leader);
        const auto truth = truth_.find(StepKey{id, leader.attempt, kBatchStep});
        bool reached = truth != truth_.end() && truth->second.timed_out;
        for (std::uint32_t i = 0; i < count; ++i) {
            const model::Job& job = record(JobId{id.value + i});
            if (!job.het || *job.het != model::HetPlace{id, i, count})
                violated(fmt::format("{} is not component {} of {}", describe(job), i, id.value));
            reached |= reached_limit(job);
            const model::Outcome* mine = model::outcome_of(job);
            if ((mine == nullptr) != (first == nullptr))
                violated(fmt::format("{} beside {}", describe(job), describe(leader)));
            if (mine == nullptr || mine->state == first->state) continue;
            if (mine->state != model::JobState::Cancelled || !touched_.contains(job.id))
                violated(
                    fmt::format("{} ended otherwise than {}", describe(job), describe(leader)));
        }
        if (first != nullptr && first->state == model::JobState::Timeout && !reached)
            violated(fmt::format("{}: no component reached its limit", describe(leader)));
    }
}

void Checker::at_rest(const core::Cluster& cluster, const core::testing::FakeDisk& disk) const {
    for (const auto& [id, name] : acknowledged_) {
        if (disk.jobs().contains(id) || disk.history().contains(id)) continue;
        violated(fmt::format("job {} ({}) was acknowledged and is lost", id.value, name));
    }
    for (const auto& [id, job] : cluster.jobs()) {
        if (std::holds_alternative<model::Ended>(job.phase)) {
            true_ending(job);
            continue;
        }
        const model::Reason reason = model::reason_of(job);
        // A reservation that ended last left its jobs held.
        if (reason == model::Reason::DependencyNeverSatisfied ||
            reason == model::Reason::Dependency || reason == model::Reason::ReservationDeleted)
            continue;
        violated(fmt::format("{} never ended", describe(job)));
    }
    for (const auto& [id, job] : disk.history()) true_ending(job);
    components_at_rest(disk);
    for (const auto& [id, attempt] : cancelled_) {
        const auto found = cluster.jobs().find(id);
        if (found == cluster.jobs().end() || by_hand_.contains(id)) continue;
        const model::Outcome* outcome = model::outcome_of(found->second);
        if (outcome == nullptr || outcome->state != model::JobState::Cancelled) {
            violated(fmt::format("{} although its cancellation was acknowledged",
                                 describe(found->second)));
        }
    }
    for (const model::Node& node : cluster.nodes()) {
        if (node.used_cpus != 0 || node.running_jobs != 0 || node.completing_jobs != 0 ||
            !node.used_gres.empty()) {
            violated(fmt::format("{} is still in use", describe(node)));
        }
    }
    for (const StepKey& key : async_steps_) {
        if (!cluster.jobs().contains(key.job)) continue;
        const auto step = cluster.steps().find(key);
        if (step == cluster.steps().end() || !step->second.end)
            violated(fmt::format("{} was accepted and never ended", name_of(key)));
    }
    if (!live_script_.empty()) {
        violated(fmt::format("{} is left behind on {}", name_of(live_script_.begin()->second.first),
                             live_script_.begin()->second.second));
    }
    for (const auto& [waiter, id] : waiting_) {
        model::JobSelector selector;
        selector.job = id;
        const auto ended = [](const model::Job* job) {
            return std::holds_alternative<model::Ended>(job->phase);
        };
        if (std::ranges::all_of(cluster.find(selector), ended)) {
            violated(fmt::format("somebody still waits for the end of {}", id.value));
        }
    }
}

}  // namespace switchyard::sim
