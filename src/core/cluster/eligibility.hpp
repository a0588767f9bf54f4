// eligibility.hpp: may a pending job be in the queue, and if not, why: the reason that people see.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/cluster.hpp"
#include "core/cluster/planning/planning.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/order.hpp"
#include "core/sched/shape.hpp"
#include "model/dependency.hpp"

namespace switchyard::core {

class Eligibility {
  public:
    Eligibility(World& world, Planning& planning, Cluster::Impl& cluster)
        : world_(world), planning_(planning), cluster_(cluster) {}

    void review(Job& job);
    void unqueue(JobId id);
    bool is_overdue(const Job& job) const;

  private:
    struct Candidate {
        const Job& job;
        const model::Pending& pending;
        model::DependencyStatus dependency;
        std::vector<PartitionIndex> open;  // Partitions that would take it now.
    };
    // What keeps it out.
    struct Bar {
        model::Reason reason = model::Reason::None;
        std::string detail = {};
        std::optional<Instant> opens = {};  // When it will not any more, where that is known.
    };
    using Verdict = std::optional<Bar>;
    using Gate = Verdict (Eligibility::*)(Candidate& candidate) const;
    static const std::array<Gate, 9> kGates;

    Verdict hold(Candidate& candidate) const;
    Verdict dependency(Candidate& candidate) const;
    Verdict begin_time(Candidate& candidate) const;
    Verdict journals(Candidate& candidate) const;
    Verdict partitions(Candidate& candidate) const;
    Verdict array_throttle(Candidate& candidate) const;
    Verdict other_components(Candidate& candidate) const;
    Verdict advance_reservation(Candidate& candidate) const;
    Verdict licenses(Candidate& candidate) const;

    void keep_out(Job& job, Bar bar);
    void let_in(Job& job, const std::vector<PartitionIndex>& open);
    void enqueue(const Job& job, const std::vector<PartitionIndex>& open);
    void add(sched::QueueKey key, PartitionIndex partition, const sched::Shape& shape,
             std::optional<Seconds> limit);
    std::vector<PartitionIndex> open_partitions(const JobSpec& spec,
                                                model::Reason& first_problem) const;

    World& world_;
    Planning& planning_;
    Cluster::Impl& cluster_;
};

}  // namespace switchyard::core
