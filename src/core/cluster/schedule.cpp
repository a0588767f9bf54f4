// schedule.cpp: one pass over what could start.
//
// Groups of equal jobs are taken in the order of their foremost job. What fits starts; what does
// not is blocked as a group. A job may start before one ahead of it only if it takes nothing from
// the place reserved for that one, so the first job of each partition that others would pass gets a
// reservation before they do.

#include <algorithm>
#include <unordered_map>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"
#include "core/cluster/het_together.hpp"
#include "core/sched/crowded.hpp"
#include "core/sched/idle.hpp"
#include "core/sched/placement.hpp"
#include "model/hostlist.hpp"

namespace switchyard::core {

using model::Reason;

void Cluster::Impl::schedule(Instant at) {
    now_ = std::max(now_, at);
    ++figures_.main_cycles;
    more_to_do_ = false;
    unplanned_.clear();
    review_calendar();
    review_hope();
    const bool plan_due = plan_is_due();
    std::uint32_t attempts = 0;
    serve_claims();
    resume_lenders(true);
    start_what_fits(attempts);
    if (plan_due && !more_to_do_ && continue_plan()) start_what_fits(attempts);
    preempt_for_waiting();
    resume_lenders(false);
    figures_.last_depth = attempts;
    figures_.total_depth += attempts;
    figures_.queue_length = queue_.size();
    settle_reasons();
    count_pass();
}

namespace {

// Where one did not fit, neither does one of the same shape that stays longer and stands behind.
class Failures {
  public:
    struct One {
        Seconds limit;
        sched::QueueKey key;
        std::uint32_t missing;
    };
    // What is known holds until somebody wakes.
    const One* find(const sched::Group& group, sched::QueueKey key, std::uint64_t wakes) {
        if (wakes != wakes_) by_shape_.clear();
        wakes_ = wakes;
        const auto known = by_shape_.find(group.shape_id);
        if (known == by_shape_.end()) return nullptr;
        const One& one = known->second;
        const bool worse = one.limit <= limit_of(group) && one.key < key;
        return worse ? &one : nullptr;
    }
    void add(const sched::Group& group, sched::QueueKey key, std::uint32_t missing) {
        by_shape_.insert_or_assign(group.shape_id, One{limit_of(group), key, missing});
    }

  private:
    static Seconds limit_of(const sched::Group& group) {
        return group.limit.value_or(Seconds::max());
    }
    std::unordered_map<std::uint32_t, One> by_shape_;  // Looked up, never iterated.
    std::uint64_t wakes_ = 0;
};

}  // namespace

// In the order of the queue: groups that were not tried yet, and blocked ones that a node with new
// room would serve.
void Cluster::Impl::start_what_fits(std::uint32_t& attempts) {
    if (!settings_.backfill) return start_in_line(attempts);
    Failures failures;
    std::uint32_t turns = 0;  // Of those who were offered something.
    const std::uint64_t started_before = figures_.jobs_started;
    while (true) {
        if (queue_.has_offers()) offers_.renew(queue_.take_offers(pool_, now_));
        sched::Group* group = queue_.foremost(pool_);
        if (group == nullptr && offers_.empty()) return;
        if (attempts >= kAttemptsPerPassMax || turns >= kOffersPerPassMax ||
            figures_.jobs_started - started_before > kStartsPerPassMax) {
            more_to_do_ = true;
            return;
        }
        if (!offers_.empty() &&
            (group == nullptr || offers_.first_key() < *group->members.begin())) {
            ++turns;
            if (take_up_offer()) ++attempts;
            continue;
        }
        ++attempts;
        const sched::QueueKey key = *group->members.begin();
        if (const auto* known = failures.find(*group, key, queue_.wakes())) {
            queue_.block(*group, known->missing);
            continue;
        }
        const Try tried = try_start(*group, key);
        if (tried.started) continue;
        queue_.block(*group, tried.missing);
        if (tried.no_room) failures.add(*group, key, tried.missing);
    }
}

// The first of all offers is told to whom it serves, and then to the next of the same shape. True
// if somebody tried.
bool Cluster::Impl::take_up_offer() {
    sched::Offer offer = offers_.take_first();
    const auto hand_on = [&](bool behind) {
        sched::Group* next = queue_.first_served(offer, behind, pool_, now_);
        if (next == nullptr || *next->members.begin() == offer.key) return next;
        offer.key = *next->members.begin();
        offers_.add({offer});
        return static_cast<sched::Group*>(nullptr);
    };
    sched::Group* group = hand_on(false);
    if (group == nullptr) return false;
    const Try tried = try_start(*group, offer.key);
    if (tried.started) {
        offers_.keep(offer.node, pool_.node(offer.node).free);
    } else {
        queue_.block(*group, tried.missing);
    }
    hand_on(!tried.started);
    return true;
}

// With nobody passing anybody only those who are first in line are looked at.
void Cluster::Impl::start_in_line(std::uint32_t& attempts) {
    if (queue_.has_offers()) queue_.wake_line();
    while (sched::Group* group = queue_.foremost_in_line(pool_)) {
        if (++attempts > kAttemptsPerPassMax) {
            more_to_do_ = true;
            return;
        }
        const Try tried = try_start(*group, *group->members.begin());
        if (!tried.started) queue_.block(*group, tried.missing);
    }
}

// The nodes it would prefer, if it can have them now; else any that will do. In the first of its
// reservations that has them.
std::optional<model::Allocation> Cluster::Impl::find_room(const sched::Group& group,
                                                          const sched::View& view,
                                                          Try& tried) const {
    const auto place = [&](const sched::Demand& demand) -> std::optional<model::Allocation> {
        sched::View inside = view;
        for (const sched::WindowOwner owner : sched::owners_of(demand.shape)) {
            inside.owner = tried.owner = owner;
            std::uint32_t found = 0;
            const auto picks = sched::place(pool_, group.partition, demand, inside, &found);
            const std::uint32_t wanted = demand.shape.nodes_min;
            tried.no_room = !picks;
            tried.missing = !picks && wanted > found ? wanted - found : 1;
            if (!picks) continue;
            if (auto allocation = sched::make_allocation(pool_, demand, *picks, inside))
                return allocation;
        }
        return std::nullopt;
    };
    if (!group.demand.preferred.empty()) {
        sched::Demand first = group.demand;
        first.constraint = first.preferred;
        if (auto allocation = place(first)) return allocation;
    }
    return place(group.demand);
}

// --time-min: the longest limit (to the minute) with which it can begin before a place that is kept
// for somebody else.
std::optional<model::Allocation> Cluster::Impl::find_room_for_less(
    const sched::Group& group, sched::View view, std::optional<Minutes>& reduced,
    sched::WindowOwner& owner) const {
    const auto with_minutes = [&](std::int64_t minutes) {
        view.end = view.start + Minutes{minutes};
        Try tried;
        auto found = find_room(group, view, tried);
        if (found) owner = tried.owner;
        return found;
    };
    std::int64_t good = std::max<std::int64_t>(1, (group.demand.shape.seconds_min + 59) / 60);
    std::int64_t bad = std::chrono::ceil<Minutes>(group.limit.value_or(sched::kForever)).count();
    if (good >= bad) return std::nullopt;
    auto allocation = with_minutes(good);
    while (allocation && bad - good > 1) {
        const std::int64_t middle = good + (bad - good) / 2;
        if (auto longer = with_minutes(middle)) {
            good = middle;
            allocation = std::move(longer);
        } else {
            bad = middle;
        }
    }
    if (allocation) reduced = Minutes{good};
    return allocation;
}

// Places for those who are first in line, and would be passed. Returns whether anybody would be.
bool Cluster::Impl::heed_those_ahead(PartitionIndex partition, sched::QueueKey key) {
    bool passes_someone = false;
    for (PartitionIndex p = 0; settings_.backfill && p < partitions_.size(); ++p) {
        const auto front = queue_.front(p);
        if (!front || front->job == key.job || !(*front < key) || !pool_.overlap(p, partition))
            continue;
        passes_someone |= p == partition;
        ensure_reserved(*front, p);
    }
    return passes_someone;
}

Cluster::Impl::Try Cluster::Impl::try_start(sched::Group& group, sched::QueueKey key) {
    set_aside(key.job, true);
    const Try tried = try_beside(group, key);
    if (queue_.contains(key.job)) set_aside(key.job, false);
    return tried;
}

Cluster::Impl::Try Cluster::Impl::try_beside(sched::Group& group, sched::QueueKey key) {
    const bool passes_someone = heed_those_ahead(group.partition, key);
    Job& job = jobs_.at(key.job);
    if (!has_licenses(job)) {
        review(job);
        return {.started = true};
    }
    if (job.het) return {.started = together_->try_start(job, passes_someone)};
    const sched::View view{.start = now_,
                           .end = now_ + group.limit.value_or(sched::kForever),
                           .key = key,
                           .uid = job.spec->uid};
    std::optional<Minutes> reduced;
    Try tried;
    auto allocation = find_room(group, view, tried);
    if (!allocation && group.demand.shape.seconds_min > 0) {
        allocation = find_room_for_less(group, view, reduced, tried.owner);
        tried.no_room = false;  // One with the same needs may be content with less.
    }
    if (!allocation) return tried;
    Terms terms{tried.owner, {}};
    if (auto licenses = find_licenses(job, tried.owner, licenses_)) {
        terms.licenses = *std::move(licenses);
    } else {
        return tried;
    }
    const auto reduce = [&](Job& starting) {
        if (!reduced) return;
        JobSpec spec = *starting.spec;
        spec.time_limit = model::TimeLimit{.seconds = *reduced, .unlimited = false};
        starting.spec = std::make_shared<const JobSpec>(std::move(spec));
    };
    const PartitionIndex partition =
        group.partition;  // The group may be gone when its last job has left.
    if (job.array && !job.array->element && job.array->pending.size() > 1) {
        Job& element = split_element(job, job.array->pending.front());
        reduce(element);
        start(element, partition, std::move(*allocation), passes_someone, terms);
        if (throttled(job)) review(job);
        return {.started = true};
    }
    if (job.array && !job.array->element) {
        job.array->element = job.array->pending.front();
        job.array->pending = {};
    }
    reduce(job);
    start(job, partition, std::move(*allocation), passes_someone, terms);
    return {.started = true};
}

// Nodes came or went, or groups came: who has hope?
void Cluster::Impl::review_hope() {
    const bool all = hope_seen_ != hope_epoch_;
    hope_seen_ = hope_epoch_;
    const auto fresh = queue_.take_new_groups();
    bool regained = false;
    for (sched::Group* group : all ? queue_.groups() : fresh) {
        const bool was_hopeless = group->hopeless;
        give_up_hope(*group);
        regained |= was_hopeless && !group->hopeless;
    }
    if (regained) queue_.wake_all();
    // Those who are first in line may have too few nodes now, or no longer.
    for (const auto& front : fronts_) {
        if (all && front) fresh_.push_back(front->job);
    }
}

// Could a group start if everything usable were idle? If not, its jobs wait for nodes to come back
// and must not hold up others.
void Cluster::Impl::give_up_hope(sched::Group& group) {
    if (group.hope_checked == hope_epoch_) return;
    group.hope_checked = hope_epoch_;
    if (group.demand.shape.only_job != 0)
        return settle_hope(group, together_->no_hope(jobs_.at(group.members.begin()->job)));
    settle_hope(group, no_hope(group));
}

// Why not even usable nodes that are all idle would hold it; none: they would.
std::optional<std::pair<Reason, std::string>> Cluster::Impl::no_hope(
    const sched::Group& group) const {
    const auto holds = [&](sched::WindowOwner owner) {
        return sched::could_hold(pool_, group.partition, group.demand, sched::Nodes::Usable, owner);
    };
    const std::vector<sched::WindowOwner> owners = sched::owners_of(group.demand.shape);
    if (std::ranges::any_of(owners, holds)) return std::nullopt;
    if (owners.back() != sched::kNobody && holds(sched::kNobody))
        return std::pair(Reason::Reservation, std::string());
    std::vector<std::string> missing;
    for (const NodeIndex node : group.demand.required) {
        if (!pool_.node(node).usable) missing.push_back(pool_.node(node).name);
    }
    if (missing.empty()) return std::pair(Reason::NodeDown, std::string());
    return std::pair(Reason::ReqNodeNotAvail,
                     "ReqNodeNotAvail, UnavailableNodes:" + model::compress_hostlist(missing));
}

void Cluster::Impl::settle_hope(sched::Group& group,
                                std::optional<std::pair<Reason, std::string>> why) {
    if (!why && !group.hopeless) return;
    if (why) std::tie(group.why, group.why_detail) = *std::move(why);
    queue_.set_hopeless(group, why.has_value());
    for (const sched::QueueKey& key : group.members) {
        jobs_.fold_idle();
        Job& job = jobs_.at(key.job);
        drop_reservation(job.id);
        set_waiting_reason(job, group.partition);
    }
}

void Cluster::Impl::set_waiting_reason(Job& job, PartitionIndex partition) {
    job.last_evaluated = now_;
    if (const auto claim = claims_.find(job.id); claim != claims_.end())
        return set_reason(job, Reason::Resources, "waits for preempted jobs to leave");
    const sched::Group* group = queue_.group_of(job.id, partition);
    if (group != nullptr && group->hopeless) return set_reason(job, group->why, group->why_detail);
    if (const auto problem = group != nullptr ? window_problem(job, *group) : std::nullopt)
        return set_reason(job, Reason::ReqNodeNotAvail, *problem);
    const auto front = queue_.front(partition);
    if (front && front->job != job.id) {
        const Job* ahead = find_job(front->job);
        return set_reason(
            job, Reason::Priority,
            ahead == nullptr ? std::string() : "behind job " + model::display_id(*ahead));
    }
    const bool crowded_out = sched::is_crowded_out(queue_, pool_, partition);
    set_reason(job, crowded_out ? Reason::NodeDown : Reason::Resources);
}

// Only newcomers and those who have become first change their reason: a pass costs what changed.
void Cluster::Impl::settle_reasons() {
    const auto settle = [&](JobId id) {
        Job* job = find_job(id);
        if (job == nullptr || !queue_.contains(id) ||
            !std::holds_alternative<model::Pending>(job->phase))
            return;
        for (PartitionIndex p = 0; p < partitions_.size(); ++p) {
            if (queue_.group_of(id, p) != nullptr) return set_waiting_reason(*job, p);
        }
    };
    const auto enough = std::min<std::size_t>(fresh_.size(), kReasonsPerPassMax);
    for (std::size_t i = 0; i < enough; ++i) {
        jobs_.fold_idle();
        settle(fresh_[i]);
    }
    fresh_.erase(fresh_.begin(), fresh_.begin() + static_cast<std::ptrdiff_t>(enough));
    more_to_do_ |= !fresh_.empty();
    std::vector<PartitionIndex> moved;
    for (PartitionIndex p = 0; p < partitions_.size(); ++p) {
        const auto front = queue_.front(p);
        if (front == fronts_[p]) continue;
        if (fronts_[p]) settle(fronts_[p]->job);
        fronts_[p] = front;
        moved.push_back(p);
    }
    // Who is first elsewhere on the same nodes may have been crowded out by one who was first here.
    for (PartitionIndex p = 0; p < partitions_.size() && !moved.empty(); ++p) {
        const auto concerns = [&](PartitionIndex q) { return p == q || pool_.overlap(p, q); };
        if (fronts_[p] && std::ranges::any_of(moved, concerns)) settle(fronts_[p]->job);
    }
}

}  // namespace switchyard::core
