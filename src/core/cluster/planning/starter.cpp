// starter.cpp: starts what fits now.
//
// Groups of equal jobs are taken in the order of their foremost job. What fits starts; what does
// not is blocked as a group. A job may start before one ahead of it only if it takes nothing from
// the place reserved for that one, so the first job of each partition that others would pass gets a
// reservation before they do.

#include "core/cluster/planning/starter.hpp"

#include <memory>
#include <unordered_map>
#include <utility>

#include "core/cluster/cluster_impl.hpp"
#include "core/sched/placement.hpp"

namespace switchyard::core {
namespace {

// One pass looks at so many groups, and starts so many jobs, before it lets others in.
constexpr std::uint32_t kAttemptsPerPassMax = 5000;
constexpr std::uint32_t kStartsPerPassMax = 200000;
constexpr std::uint32_t kOffersPerPassMax = 20000;

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
// room would serve. True: there is more to do, in the next pass.
bool Starter::start_what_fits(std::uint32_t& attempts) {
    if (!world_.settings.backfill) return start_in_line(attempts);
    Failures failures;
    std::uint32_t turns = 0;  // Of those who were offered something.
    const std::uint64_t started_before = world_.figures.jobs_started;
    while (true) {
        if (queue_.has_offers()) offers_.renew(queue_.take_offers(world_.pool, world_.now));
        sched::Group* group = queue_.foremost(world_.pool);
        if (group == nullptr && offers_.empty()) return false;
        if (attempts >= kAttemptsPerPassMax || turns >= kOffersPerPassMax ||
            world_.figures.jobs_started - started_before > kStartsPerPassMax)
            return true;
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
bool Starter::take_up_offer() {
    sched::Offer offer = offers_.take_first();
    const auto hand_on = [&](bool behind) {
        sched::Group* next = queue_.first_served(offer, behind, world_.pool, world_.now);
        if (next == nullptr || *next->members.begin() == offer.key) return next;
        offer.key = *next->members.begin();
        offers_.add({offer});
        return static_cast<sched::Group*>(nullptr);
    };
    sched::Group* group = hand_on(false);
    if (group == nullptr) return false;
    const Try tried = try_start(*group, offer.key);
    if (tried.started) {
        offers_.keep(offer.node, world_.pool.node(offer.node).free);
    } else {
        queue_.block(*group, tried.missing);
    }
    hand_on(!tried.started);
    return true;
}

// With nobody passing anybody only those who are first in line are looked at.
bool Starter::start_in_line(std::uint32_t& attempts) {
    if (queue_.has_offers()) queue_.wake_line();
    while (sched::Group* group = queue_.foremost_in_line(world_.pool)) {
        if (++attempts > kAttemptsPerPassMax) return true;
        const Try tried = try_start(*group, *group->members.begin());
        if (!tried.started) queue_.block(*group, tried.missing);
    }
    return false;
}

Try Starter::try_start(sched::Group& group, sched::QueueKey key) {
    holds_.set_aside(key.job, true);
    const Try tried = try_beside(group, key);
    if (queue_.contains(key.job)) holds_.set_aside(key.job, false);
    return tried;
}

Try Starter::try_beside(sched::Group& group, sched::QueueKey key) {
    const bool passes_someone = backfill_.protect_those_ahead(group.partition, key);
    Job& job = world_.jobs.at(key.job);
    if (!licenses_.has_for(job)) {
        cluster_.review(job);
        return {.started = true};
    }
    if (job.het) return {.started = start_together(job, passes_someone)};
    const sched::View view{.start = world_.now,
                           .end = world_.now + sched::limit_of(group),
                           .key = key,
                           .uid = job.spec->uid};
    std::optional<Minutes> reduced;
    Try tried;
    auto allocation = find_room(world_.pool, group, view, tried);
    if (!allocation && group.demand.shape.seconds_min > 0) {
        allocation = find_room_for_less(world_.pool, group, view, reduced, tried.owner);
        tried.no_room = false;  // One with the same needs may be content with less.
    }
    if (!allocation) return tried;
    Terms terms{tried.owner, {}};
    if (auto licenses = licenses_.find(job, tried.owner)) {
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
        Job& element = cluster_.split_element(job, job.array->pending.front());
        reduce(element);
        cluster_.start(element, partition, std::move(*allocation), passes_someone, terms);
        if (arrays_.throttled(job)) cluster_.review(job);
        return {.started = true};
    }
    if (job.array && !job.array->element) {
        job.array->element = job.array->pending.front();
        job.array->pending = {};
    }
    reduce(job);
    cluster_.start(job, partition, std::move(*allocation), passes_someone, terms);
    return {.started = true};
}

// All components of a heterogeneous job, or none.
bool Starter::start_together(const Job& leader, bool backfilled) {
    for (const Component& component : het_.components_to_place(leader)) {
        for (const Component::Where& where : component.where)
            backfilled |= backfill_.protect_those_ahead(where.partition, where.key);
    }
    auto found = het_.find_places(leader);
    if (!found) return false;
    for (FoundPlace& each : *found)
        cluster_.start(world_.jobs.at(each.job), each.partition, std::move(each.allocation),
                       backfilled, each.terms);
    return true;
}

}  // namespace switchyard::core
