// het_together.hpp: places for all components of a heterogeneous job, each beside the others: now,
// if everybody were gone, and from when on (het_places.cpp, het_plan.cpp).
//
// The cluster asks it wherever a job that is not heterogeneous would be placed or planned alone.
#pragma once

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

class Cluster::Impl::Together {
  public:
    explicit Together(Impl& cluster) : cluster_(cluster) {}

    // --- het_places.cpp: where they fit
    std::vector<Component> components_to_place(const Job& leader) const;
    void enqueue(const Job& leader);
    std::optional<std::vector<FoundPlace>> find_places(const Job& leader);
    bool try_start(const Job& leader, bool backfilled);
    Status check(const std::vector<JobSpec>& specs) const;
    std::optional<std::pair<model::Reason, std::string>> no_hope(const Job& leader) const;

    // --- het_plan.cpp: from when on they do
    void reserve(const Job& leader, sched::QueueKey key);
    bool stands_below(sched::QueueKey key) const;
    void foresee(PlanInMaking& plan, sched::QueueKey key) const;
    void drop_foreseen(PlanInMaking& plan, JobId leader) const;
    bool add_to(PlanInMaking& plan, sched::QueueKey key, PartitionIndex partition,
                std::uint64_t looks) const;
    bool keep(const std::vector<Component>& components, const std::vector<PlannedPart>& parts,
              JobId leader, sched::Reservations& reserved, sched::Outlook* check) const;
    void tell(const std::vector<PlannedPart>& parts);

  private:
    enum class Search { Found, Never, Later };
    using Places = std::vector<std::pair<NodeIndex, sched::Reserved>>;

    Component component_of(const JobSpec& spec) const;
    std::optional<PartitionIndex> place_component(const Component& component,
                                                  model::Allocation& allocation,
                                                  Terms& terms) const;
    void try_out(const Component& component, const FoundPlace& place);
    bool could_hold(const std::vector<Component>& components, sched::Nodes which) const;

    Places places_of(const Component& component, const PlannedPart& part, sched::QueueKey key,
                     JobId leader) const;
    static std::optional<PlannedPart> plan_component(const Component& component,
                                                     sched::Planner& planner);
    bool plan_beside(const std::vector<Component>& components, JobId leader,
                     const std::vector<PlannedPart>& alone, sched::Planner& planner,
                     sched::Reservations& reserved, std::vector<PlannedPart>& parts,
                     std::optional<Instant>& next) const;
    Search search_start(const std::vector<Component>& components, TogetherSearch& search,
                        sched::Reservations& reserved, const SearchBounds& bounds,
                        std::vector<PlannedPart>& parts) const;
    bool kept_from_before(PlanInMaking& plan, sched::QueueKey key,
                          const std::vector<Component>& components,
                          std::vector<PlannedPart>& parts) const;

    Impl& cluster_;
};

}  // namespace switchyard::core
