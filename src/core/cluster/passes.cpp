// passes.cpp: one pass of the scheduler after the other, and when the next is due. Passes that ask
// for another and change nothing are left alone for a while (patience.hpp).

#include <algorithm>

#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

void Cluster::Impl::schedule(Instant at) {
    now_ = std::max(now_, at);
    ++figures_.main_cycles;
    calendar_.review();
    settle();
    planning_.run_pass();
    count_pass();
}

// At the end of each pass.
void Cluster::Impl::count_pass() {
    if (passes_rest_until_ && now_ < *passes_rest_until_) return;
    passes_rest_until_.reset();
    const auto next = next_wakeup();
    const bool idle = next && *next <= now_ && changes_.empty() && world_.effects.empty();
    const auto rest = pass_patience_.passed(idle);
    if (!rest) return;
    passes_rest_until_ = now_ + *rest;
    ++figures_.stalls;
    emit(effect::Stalled{"the scheduling pass", std::nullopt, *rest});
}

std::optional<Instant> Cluster::Impl::next_wakeup() const {
    std::optional<Instant> pass = planning_.next_pass();
    if (pass && passes_rest_until_) pass = std::max(*pass, *passes_rest_until_);
    const std::optional<Instant> timer = timers_.next();
    return pass && timer ? std::min(*pass, *timer) : pass ? pass : timer;
}

}  // namespace switchyard::core
