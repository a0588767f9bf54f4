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
Changes Cluster::take_changes() { return std::exchange(impl_->changes_, {}); }
std::optional<Instant> Cluster::next_wakeup() const { return impl_->next_wakeup(); }
const Settings& Cluster::settings() const { return impl_->settings_; }
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
    return impl_->triggers_.all;
}
std::vector<const model::Job*> Cluster::find(const model::JobSelector& selector) const {
    return impl_->find(selector);
}
JobId Cluster::next_job_id() const { return impl_->next_job_id_; }
const std::map<std::string, model::Reservation>& Cluster::reservations() const {
    return impl_->calendar_;
}
std::uint32_t Cluster::next_reservation_id() const { return impl_->next_reservation_id_; }
std::vector<model::LicenseUse> Cluster::licenses() const {
    return impl_->licenses_.use(impl_->now_);
}
SchedulerFigures Cluster::figures() const { return impl_->figures_; }
std::optional<Instant> Cluster::deadline_of(const model::Job& job) const {
    return impl_->deadline_of(job);
}
bool Cluster::asks_begun(std::string_view node) const {
    const auto index = impl_->node_index(node);
    return index && impl_->node_sides_[*index].owes_journal;
}
bool Cluster::restoring() const { return impl_->restoring_; }
void Cluster::check_invariants() const {
    impl_->check_invariants();
    impl_->check_set_aside();
}

Cluster::Impl::Impl(Settings settings, Records records, Instant now, JobKeeping keeping)
    : world_(std::move(settings), now, std::move(keeping)) {
    load(std::move(records));
}

Cluster::Impl::~Impl() = default;

void Cluster::Impl::schedule(Instant at) {
    now_ = std::max(now_, at);
    ++figures_.main_cycles;
    review_calendar();
    planning_.run_pass();
    count_pass();
}

void Cluster::Impl::step(Instant at, const Event& event) {
    now_ = std::max(now_, at);
    std::visit([this](const auto& what) { on(what); }, event);
    fire_triggers();
}

JobSide* Cluster::Impl::find_side(JobId id) {
    const auto found = sides_.find(id);
    return found == sides_.end() ? nullptr : &found->second;
}

std::optional<JobId> Cluster::Impl::find_nonce(std::uint32_t uid, std::uint64_t nonce) const {
    const auto at = nonces_.lower_bound({nonce, uid, JobId{0}});
    if (at == nonces_.end() || at->value != nonce || at->uid != uid) return std::nullopt;
    return at->job;
}

void Cluster::Impl::replace_spec(Job& job, const JobSpec& spec) {
    job.spec = std::make_shared<const JobSpec>(spec);
    index_reservation(job);
    touch(job);
}

namespace {

bool has_some_of(const Job& job, const model::IndexSet& elements) {
    return job.array->element ? elements.contains(*job.array->element)
                              : elements.intersects(job.array->pending);
}

}  // namespace

// The records of a job or array that a selector names; for elements inside a pending block, the
// block.
std::vector<const Job*> Cluster::Impl::find(const model::JobSelector& selector) const {
    std::vector<const Job*> found;
    const auto array = arrays_.find(selector.job);
    const bool wants_elements = selector.elements.has_value() || selector.all_elements;
    if (array == arrays_.end()) {
        const Job* job = find_job(selector.job);
        if (job == nullptr) return found;
        if (wants_elements && !job->array) return found;
        // A part of an array has a number of its own, but not all elements.
        if (selector.elements && !selector.all_elements && !has_some_of(*job, *selector.elements))
            return found;
        // The leader's number means the whole of a heterogeneous job, "12+0" the leader alone.
        const auto het = selector.component ? hets_.end() : hets_.find(selector.job);
        if (het == hets_.end()) {
            found.push_back(job);
        } else {
            for (const JobId id : het->second) found.push_back(find_job(id));
        }
        return found;
    }
    for (const JobId id : array->second.records) {
        const Job& job = *find_job(id);
        const bool all = selector.all_elements || !selector.elements;
        if (all || has_some_of(job, *selector.elements)) found.push_back(&job);
    }
    return found;
}

std::optional<Instant> Cluster::Impl::next_wakeup() const {
    std::optional<Instant> pass = planning_.next_pass();
    if (pass && passes_rest_until_) pass = std::max(*pass, *passes_rest_until_);
    const std::optional<Instant> timer = timers_.next();
    return pass && timer ? std::min(*pass, *timer) : pass ? pass : timer;
}

}  // namespace switchyard::core
