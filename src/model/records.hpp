// records.hpp: the kinds of records: what outlives the controller. One row a kind, and what deals
// with all of them (the changes that the core hands out, the store, the simulator's disk) walks
// the rows.
//
// A row is K(Type, plural, Key, key): the type of a record; the name of many of them, which is
// also that of their table in a database; the type of their key, and where it is in a record.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "model/job.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"
#include "model/reservation.hpp"
#include "model/step.hpp"
#include "model/trigger.hpp"

namespace switchyard::model {

// A partition that was changed at run time, or one of the configuration that was deleted.
struct PartitionRecord {
    Partition partition;
    bool deleted = false;  // Then no more than its name counts.
    bool operator==(const PartitionRecord&) const = default;
};

// clang-format off

// Loaded one job after the other. When one leaves memory its record stays, as history.
#define SY_JOB_RECORDS(K)                                                 \
    K(Job,             jobs,         JobId,         id)                   \
    K(Step,            steps,        StepKey,       key)
// Loaded all at once. One that is gone from memory is gone from the store.
#define SY_CLUSTER_RECORDS(K)                                             \
    K(Node,            nodes,        std::string,   config.name)          \
    K(PartitionRecord, partitions,   std::string,   partition.name)       \
    K(Trigger,         triggers,     std::uint32_t, id)                   \
    K(Reservation,     reservations, std::string,   name)
#define SY_RECORDS(K) SY_JOB_RECORDS(K) SY_CLUSTER_RECORDS(K)

// clang-format on

// The records of one kind that changed, each as it is now; null: it is gone. One that is only named
// yet gets its value before the changes are handed out.
template <class Key, class Value>
class Changed {
  public:
    using Shared = std::shared_ptr<const Value>;

    void insert(const Key& key) { all_.try_emplace(key); }
    // The last word on it.
    void put(const Key& key, Shared value) { all_.insert_or_assign(key, std::move(value)); }
    void erase(const Key& key) { all_.erase(key); }
    bool contains(const Key& key) const { return all_.contains(key); }
    bool empty() const { return all_.empty(); }
    std::size_t size() const { return all_.size(); }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

    // What happened after it: the newer word counts.
    void follow_with(Changed newer) {
        newer.all_.merge(all_);
        all_ = std::move(newer.all_);
    }

    // `find` gives a record by its key, null if there is none.
    template <class Find>
    void fill(Find find) {
        for (auto& [key, value] : all_) {
            if (!value) value = find(key);
        }
    }

  private:
    std::map<Key, Shared> all_;
};

// What is to be written, in one transaction. Whoever holds it needs nobody to explain it: a store
// writes it, another can follow it.
struct RecordChanges {
#define SY_CHANGED(Type, plural, Key, key) Changed<Key, Type> plural;
    SY_RECORDS(SY_CHANGED)
#undef SY_CHANGED
    // Runs that are over for a requeue, as they ended; the job's own record tells of the next one.
    std::vector<Job> past_runs;
    std::optional<JobId> next_job_id;
    std::optional<std::uint32_t> next_reservation_id;

    bool has_records() const {
#define SY_ANY(Type, plural, Key, key) || !plural.empty()
        return !past_runs.empty() || next_job_id || next_reservation_id SY_RECORDS(SY_ANY);
#undef SY_ANY
    }
    void follow_with(RecordChanges newer) {
#define SY_FOLLOW(Type, plural, Key, key) plural.follow_with(std::move(newer.plural));
        SY_RECORDS(SY_FOLLOW)
#undef SY_FOLLOW
        std::ranges::move(newer.past_runs, std::back_inserter(past_runs));
        if (newer.next_job_id) next_job_id = newer.next_job_id;
        if (newer.next_reservation_id) next_reservation_id = newer.next_reservation_id;
    }
};

// What a store held of all kinds but jobs and their steps.
struct RecordLists {
#define SY_LIST(Type, plural, Key, key) std::vector<Type> plural;
    SY_CLUSTER_RECORDS(SY_LIST)
#undef SY_LIST
    std::uint32_t last_trigger_id = 0;  // The highest that was ever given.
    // They are a backup, and jobs ran after it was made.
    bool restored = false;
};

}  // namespace switchyard::model
