// calendar.hpp: the advance reservations of administrators: made, changed and deleted
// (reservations.cpp), in time (calendar.cpp), and what they mean to a job (reservation_jobs.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/cluster/het_jobs.hpp"
#include "core/cluster/reservations/reservation_nodes.hpp"
#include "core/cluster/transition.hpp"
#include "core/cluster/world.hpp"
#include "core/sched/queue.hpp"
#include "core/sched/shape.hpp"
#include "core/sched/windows.hpp"
#include "model/reservation.hpp"
#include "model/update.hpp"

namespace switchyard::core {

class Licenses;
class Planning;

class Calendar {
  public:
    Calendar(World& world, const Planning& planning, const HetJobs& hets, Licenses& licenses)
        : world_(world),
          planning_(planning),
          hets_(hets),
          licenses_(licenses),
          nodes_(world, all_) {}

    // --- reservations.cpp
    void load(std::vector<model::Reservation> records, std::uint32_t next_id);
    ReplyBody answer(const event::UpdateReservation& event);
    const std::map<std::string, model::Reservation>& all() const { return all_; }
    std::uint32_t next_id() const { return next_id_; }
    // Null: there is none.
    const model::Reservation* find(const std::string& name) const;
    const model::Reservation* find(sched::WindowOwner owner) const;

    // --- calendar.cpp
    // Nodes or partitions are described anew: what was derived from them goes, and comes back.
    void clear();
    void derive();
    // What placement, plan and licenses know of them; and when each changes next.
    void set_windows();
    // Nodes came or went: those picked for a reservation may have to be replaced, at the next
    // review.
    void nodes_changed() { is_stale_ = !all_.empty(); }
    void review();
    void timer(std::uint32_t id);
    void observe(const Transition& transition);
    // To be called whenever a job is new, or what it asks for has changed.
    void load(const Job& job);
    // A job runs in one of them.
    void entered(const Job& job);
    void check() const;

    // --- reservation_jobs.cpp
    // What a job names is there, may be used by its user, and has the nodes it names.
    Status check(const JobSpec& spec, const Caller& caller) const;
    std::vector<sched::WindowOwner> owners_of(const JobSpec& spec) const;
    sched::Shape shape_for(const JobSpec& spec, PartitionIndex partition) const;
    // When the first of its reservations begins; none: it has none, or one of them is open.
    std::optional<Instant> opens_at(const JobSpec& spec) const;
    // Why a job that could have nodes now is kept from them by reservations of others.
    std::optional<std::string> window_problem(const Job& job, const sched::Group& group) const;
    // By its own limit, and by the end of the reservation it runs in.
    std::optional<Instant> end_of_run(const JobSpec& spec, const model::Running& run) const;

  private:
    Status apply_times(model::Reservation& reservation, const model::ReservationUpdate& update,
                       bool fresh) const;
    Status apply_partitions(model::Reservation& reservation,
                            const model::NameListChange& change) const;
    Status apply_update(model::Reservation& reservation, const model::ReservationUpdate& update,
                        bool fresh) const;
    std::string name_for(const model::Reservation& reservation) const;
    Result<std::string> create(const model::ReservationUpdate& update);
    Status change(const model::ReservationUpdate& update);
    Status remove(const model::ReservationUpdate& update);
    void put(model::Reservation reservation);

    void rebuild();
    void used(const std::string& name);
    void left(JobId job, const std::string& name);
    void remove_record(const std::string& name);
    void keep_to_nodes();
    void mark_nodes();
    void retime(const model::Reservation& reservation);
    bool is_wanted(const std::string& name) const;
    bool is_in_use(const std::string& name) const;
    std::vector<JobId> waiting_for(const std::string& name) const;
    std::optional<std::set<std::uint32_t>> users_drawn_by(const model::Reservation& magnet) const;
    std::set<JobId> jobs_drawn_by(const model::Reservation& magnet) const;

    World& world_;
    const Planning& planning_;
    const HetJobs& hets_;
    Licenses& licenses_;
    std::map<std::string, model::Reservation> all_;  // The records, by name.
    std::uint32_t next_id_ = 1;
    ReservationNodes nodes_;
    std::map<std::string, std::set<JobId>> runs_in_;  // Jobs that run in each of them.
    bool is_stale_ = false;                           // Nodes came or went.
    std::set<JobId> naming_;  // Jobs, in any phase, that name a reservation.
    std::map<sched::WindowOwner, model::Reservation> magnets_;  // Those that draw jobs now.
    // Who has ever submitted for an account, or as member of a group.
    std::map<std::string, std::set<std::uint32_t>> users_of_account_, users_of_group_;
};

}  // namespace switchyard::core
