// eligibility.hpp: may a pending job be in the queue, and if not, why: the reason that people see.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/arrays.hpp"
#include "core/cluster/cluster.hpp"
#include "core/cluster/dependencies.hpp"
#include "core/cluster/het_jobs.hpp"
#include "core/cluster/job_timers.hpp"
#include "core/cluster/licenses.hpp"
#include "core/cluster/mail.hpp"
#include "core/cluster/nodes/restore.hpp"
#include "core/cluster/planning/planning.hpp"
#include "core/cluster/reservations/calendar.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/order.hpp"
#include "core/sched/shape.hpp"
#include "model/dependency.hpp"

namespace switchyard::core {

class Eligibility {
  public:
    struct Others {
        Planning& planning;
        const HetJobs& hets;
        Licenses& licenses;
        const Calendar& calendar;
        const Arrays& arrays;
        Dependencies& dependencies;
        const Restore& restore;
        JobTimers& timers;
        Mail& mail;
    };
    Eligibility(World& world, Others others, Cluster::Impl& cluster)
        : world_(world),
          planning_(others.planning),
          hets_(others.hets),
          licenses_(others.licenses),
          calendar_(others.calendar),
          arrays_(others.arrays),
          dependencies_(others.dependencies),
          restore_(others.restore),
          job_timers_(others.timers),
          mail_(others.mail),
          cluster_(cluster) {}

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
    Verdict component(const Job& job) const;
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
    const HetJobs& hets_;
    Licenses& licenses_;
    const Calendar& calendar_;
    const Arrays& arrays_;
    Dependencies& dependencies_;
    const Restore& restore_;
    JobTimers& job_timers_;
    Mail& mail_;
    Cluster::Impl& cluster_;
};

}  // namespace switchyard::core
