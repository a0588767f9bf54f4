// het_places.hpp: places for all components of a heterogeneous job, each beside the others: now, if
// everybody were gone, and from when on (het_places.cpp, het_plan.cpp).
//
// It is asked wherever a job that is not heterogeneous would be placed or planned alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/het_jobs.hpp"
#include "core/cluster/licenses.hpp"
#include "core/cluster/planning/components.hpp"
#include "core/cluster/planning/plan.hpp"
#include "core/cluster/planning/terms.hpp"
#include "core/cluster/reservations/calendar.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/idle.hpp"

namespace switchyard::core {

class HetPlaces {
  public:
    HetPlaces(World& world, sched::Queue& queue, const HetJobs& hets, Licenses& licenses,
              const Calendar& calendar)
        : world_(world), queue_(queue), hets_(hets), licenses_(licenses), calendar_(calendar) {}

    // --- het_places.cpp: where they fit
    std::vector<Component> components_to_place(const Job& leader) const;
    // Where the leader stands in the queue, with what needs and for how long.
    using Stands = std::map<PartitionIndex, std::pair<sched::Shape, Seconds>>;
    Stands stands_of(const Job& leader) const;
    std::optional<std::vector<FoundPlace>> find_places(const Job& leader);
    Status check(const std::vector<JobSpec>& specs) const;
    std::optional<std::pair<model::Reason, std::string>> no_hope(const Job& leader) const;

    // --- het_plan.cpp: from when on they do; `before`: its present reservation, or null
    std::optional<BackfillReservation> reserve(const Job& leader, sched::QueueKey key);
    bool stands_below(sched::QueueKey key) const;
    void foresee(PlanInMaking& plan, sched::QueueKey key, const BackfillReservation* before) const;
    void drop_foreseen(PlanInMaking& plan, JobId leader) const;
    bool add_to(PlanInMaking& plan, sched::QueueKey key, PartitionIndex partition,
                std::uint64_t looks, const BackfillReservation* before) const;
    bool keep(const std::vector<Component>& components, const std::vector<PlannedPart>& parts,
              JobId leader, sched::BackfillReservations& reserved, sched::Outlook* check) const;
    void estimate_starts(const std::vector<PlannedPart>& parts);

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
                     sched::BackfillReservations& reserved, std::vector<PlannedPart>& parts,
                     std::optional<Instant>& next) const;
    Search search_start(const std::vector<Component>& components, CommonStart& search,
                        sched::BackfillReservations& reserved, const SearchBounds& bounds,
                        std::vector<PlannedPart>& parts) const;
    bool kept_from_before(PlanInMaking& plan, sched::QueueKey key,
                          const BackfillReservation* before,
                          const std::vector<Component>& components,
                          std::vector<PlannedPart>& parts) const;

    World& world_;
    sched::Queue& queue_;
    const HetJobs& hets_;
    Licenses& licenses_;
    const Calendar& calendar_;
};

}  // namespace switchyard::core
