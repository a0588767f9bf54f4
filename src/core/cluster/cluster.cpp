// cluster.cpp: the public face, the dispatch of events, and the small tools that every verb uses.

#include "core/cluster/cluster.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {

Cluster::Cluster(Settings settings, Records records, Instant now, JobKeeping keeping)
    : impl_(std::make_unique<Impl>(std::move(settings), std::move(records), now,
                                   std::move(keeping))) {}
Cluster::~Cluster() = default;

void Cluster::step(Instant now, const Event& event) {
    impl_->jobs_.fold_idle();
    impl_->step(now, event);
}
void Cluster::schedule(Instant now) {
    impl_->jobs_.fold_idle();
    impl_->schedule(now);
}
std::vector<Effect> Cluster::take_effects() { return std::exchange(impl_->world_.effects, {}); }
std::optional<Instant> Cluster::next_wakeup() const { return impl_->next_wakeup(); }
const Settings& Cluster::settings() const { return impl_->settings_; }
model::Rights Cluster::rights_of(const Caller& caller) const { return impl_->rights_of(caller); }
const JobTable& Cluster::jobs() const { return impl_->jobs_; }
const std::map<StepKey, model::Step>& Cluster::steps() const { return impl_->steps_; }
const std::vector<model::Node>& Cluster::nodes() const { return impl_->nodes_; }
const model::Node* Cluster::find_node(std::string_view name) const {
    const auto index = impl_->node_index(name);
    return index ? &impl_->nodes_[*index] : nullptr;
}
const std::vector<model::Partition>& Cluster::partitions() const { return impl_->partitions_; }
std::vector<std::string> Cluster::deleted_partitions() const {
    return {impl_->deleted_partitions_.begin(), impl_->deleted_partitions_.end()};
}
const std::map<std::uint32_t, model::Trigger>& Cluster::triggers() const {
    return impl_->triggers_.all();
}
std::vector<const model::Job*> Cluster::find(const model::JobSelector& selector) const {
    return impl_->arrays_.find(selector);
}
JobId Cluster::next_job_id() const { return impl_->world_.next_job_id; }
const std::map<std::string, model::Reservation>& Cluster::reservations() const {
    return impl_->calendar_.all();
}
std::uint32_t Cluster::next_reservation_id() const { return impl_->calendar_.next_id(); }
std::vector<model::LicenseUse> Cluster::licenses() const { return impl_->licenses_.use(); }
SchedulerFigures Cluster::figures() const { return impl_->figures_; }
std::optional<Instant> Cluster::deadline_of(const model::Job& job) const {
    return impl_->world_.deadline_of(job);
}
bool Cluster::asks_begun(std::string_view node) const {
    const auto index = impl_->node_index(node);
    return index && impl_->machines_.side(*index).owes_journal;
}
bool Cluster::restoring() const { return impl_->restore_.is_under_way(); }
void Cluster::check_invariants() const { impl_->check_invariants(); }

Cluster::Impl::Impl(Settings settings, Records records, Instant now, JobKeeping keeping)
    : world_(std::move(settings), now, std::move(keeping)) {
    load(std::move(records));
}

Cluster::Impl::~Impl() = default;

void Cluster::Impl::on(const event::UpdateReservation& event) {
    ReplyBody answer = calendar_.answer(event);
    settle();
    reply(event.token, std::move(answer));
}

// To the one who takes such events.
template <class E>
void Cluster::Impl::dispatch(const E& event) {
    if constexpr (requires { triggers_.on(event); }) {
        triggers_.on(event);
    } else if constexpr (requires { machines_.on(event); }) {
        machines_.on(event);
    } else if constexpr (requires { job_steps_.on(event); }) {
        job_steps_.on(event);
    } else if constexpr (requires { waiters_.on(event); }) {
        waiters_.on(event);
    } else {
        on(event);
    }
}

void Cluster::Impl::step(Instant at, const Event& event) {
    now_ = std::max(now_, at);
    std::visit([this](const auto& what) { dispatch(what); }, event);
    settle();
    triggers_.fire();
}

}  // namespace switchyard::core
