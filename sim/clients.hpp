// clients.hpp: users and operators. They submit, cancel, hold, requeue and so on; a request that is
// not answered is asked again, a submission with the same nonce.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/cluster/cluster.hpp"
#include "sim/controller.hpp"

namespace switchyard::sim {

class Simulation;

class Clients {
  public:
    explicit Clients(Simulation& sim) : sim_(sim) {}

    void begin(std::uint32_t submissions);
    bool done() const { return outstanding_ == 0; }
    // The controller died: whoever held a connection to it notices.
    void connection_lost();
    // The script of a job runs; perhaps it calls srun.
    void script_began(const model::Job& job);
    // For the end: puts right what commands have broken (holds, drains), so that everything can
    // end.
    void put_right();

  private:
    struct Owner {
        JobId job;
        core::Token token;
        bool granted = false;
        Instant leaves{};
    };
    void submit_some();
    using Specs = std::vector<model::JobSpec>;  // Of a job, or of each component of one.
    model::JobSpec random_spec(std::uint32_t number);
    Specs random_job(std::uint32_t number);
    model::Dependency random_dependency();
    void submit(const Specs& specs, std::uint64_t nonce, int tries);
    void submitted(const Specs& specs, JobId id, core::Token token);
    void wait_for(JobId id, std::uint32_t uid, std::uint64_t waiter);
    void command();
    core::Event random_reservation();
    void attach(Owner owner, int tries);
    void own(Owner owner);
    void owner_answer(const core::effect::Reply& reply, Owner owner);
    void make_step(JobId job, std::uint32_t uid, std::uint64_t nonce, int tries);
    model::JobSelector random_selector();
    std::vector<JobId> records_of(JobId id) const;
    void ask(core::Event event, SimController::Answer answer, Millis patience,
             std::function<void()> unanswered);

    Simulation& sim_;
    std::uint32_t to_submit_ = 0, submitted_ = 0;
    std::int64_t outstanding_ = 0;
    std::uint64_t last_nonce_ = 100;
    std::vector<JobId> known_;
    std::map<JobId, std::uint32_t> components_;  // How many, of heterogeneous jobs.
    std::vector<Owner> owners_;
    struct Waiter {
        std::uint64_t number;
        JobId job;
        std::uint32_t uid;
    };
    std::vector<Waiter> waiters_;
    std::uint64_t last_waiter_ = 0;
    std::uint32_t reservations_ = 0;  // Asked for so far: r1, r2, ...
};

}  // namespace switchyard::sim
