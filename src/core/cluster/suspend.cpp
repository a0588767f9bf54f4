// suspend.cpp: scontrol suspend and resume (freezing.cpp).

#include "core/cluster/selected.hpp"

namespace switchyard::core {

void Cluster::Impl::on(const event::Suspend& event) {
    auto done = for_each_selected(event.jobs, event.caller, [&](Job& job) -> std::optional<Errc> {
        if (std::holds_alternative<model::Pending>(job.phase)) return Errc::JobPending;
        if (std::holds_alternative<model::Ended>(job.phase)) return Errc::JobFinished;
        if (std::holds_alternative<model::Completing>(job.phase)) return Errc::JobCompleting;
        if (event.resume) {
            if (!std::holds_alternative<model::Suspended>(job.phase)) return Errc::JobNotSuspended;
            if (planning_.lending.contains(job.id))
                return planning_.lending.take_cores_back(job) ? std::nullopt
                                                              : std::optional(Errc::NodesBusy);
            thaw(job);
        } else {
            const auto* running = std::get_if<model::Running>(&job.phase);
            if (running == nullptr) return Errc::JobNotRunning;
            // It is about to be ended for another.
            if (running->preempted) return Errc::JobCompleting;
            freeze(job);
        }
        return std::nullopt;
    });
    reply(event.token, std::move(done));
}

}  // namespace switchyard::core
