// licenses.cpp: jobs that need licenses of the cluster. One that cannot have them is not in the
// queue, so that it holds up nobody for nodes; it stands in a line of its own. The first in that
// line is protected: whoever is behind it gets licenses only if it does not have to wait longer
// for that.

#include <algorithm>

#include "base/assert.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

model::LicenseRequest request_of(const JobSpec& spec) {
    auto request = model::parse_license_request(spec.licenses);
    return request ? *std::move(request) : model::LicenseRequest{};
}

bool share_a_name(const model::LicenseRequest& a, const model::LicenseRequest& b) {
    return std::ranges::any_of(a.entries, [&](const model::License& one) {
        return std::ranges::find(b.entries, one.name, &model::License::name) != b.entries.end();
    });
}

}  // namespace

Status Cluster::Impl::check_licenses(const JobSpec& spec) const {
    if (spec.licenses.empty()) return {};
    SY_TRY(const auto request, model::parse_license_request(spec.licenses));
    if (!licenses_.could_meet(request)) return fail(Errc::InvalidLicenses);
    return {};
}

// Whether there are so many at all that every component of a heterogeneous job has its own. Those
// that are content with one of several come last.
bool Cluster::Impl::license_all(const std::vector<JobSpec>& specs) const {
    sched::LicenseLedger ledger;
    ledger.reset(settings_.licenses);
    const auto claim = [&](bool any) {
        for (std::uint32_t i = 0; i < specs.size(); ++i) {
            const model::LicenseRequest request = request_of(specs[i]);
            if (request.any != any || request.entries.empty()) continue;
            auto found = ledger.find(request, sched::kNobody, now_, now_);
            if (!found) return false;
            ledger.claim(JobId{i + 1}, *std::move(found), Instant::max(), sched::kNobody);
        }
        return true;
    };
    return claim(false) && claim(true);
}

// All that a job needs to start; of what is only one of several, the first.
model::LicenseRequest Cluster::Impl::wanted_licenses(const Job& job) const {
    if (!job.het) return request_of(*job.spec);
    model::LicenseRequest all;
    for (const JobId id : live_components(job)) {
        model::LicenseRequest one = request_of(*jobs_.at(id).spec);
        if (one.any) one.entries.resize(1);
        for (model::License& entry : one.entries) {
            const auto known = std::ranges::find(all.entries, entry.name, &model::License::name);
            if (known == all.entries.end()) {
                all.entries.push_back(std::move(entry));
            } else {
                known->count += entry.count;
            }
        }
    }
    return all;
}

// What it would get now, in the reservation `owner`, as the ledger says; none: it has to wait.
std::optional<std::vector<model::License>> Cluster::Impl::find_licenses(
    const Job& job, sched::WindowOwner owner, const sched::LicenseLedger& ledger) const {
    if (job.spec->licenses.empty()) return std::vector<model::License>();
    const model::LicenseRequest request = request_of(*job.spec);
    const Instant end = now_ + limit_of(*job.spec);
    auto found = ledger.find(request, owner, now_, end);
    if (!found || license_line_.empty()) return found;
    const sched::QueueKey own = license_key_of(leader_of(job));
    for (const sched::QueueKey& key : license_line_) {
        if (!(key < own)) break;
        const Job& first = jobs_.at(key.job);
        const model::LicenseRequest wanted = wanted_licenses(first);
        if (!share_a_name(request, wanted)) continue;
        const Seconds limit = limit_of(*first.spec);
        const auto before = ledger.earliest(wanted, sched::kNobody, now_, limit);
        sched::LicenseLedger beside = ledger;
        beside.claim(job.id, *found, end, owner);
        const auto after = beside.earliest(wanted, sched::kNobody, now_, limit);
        if (before && (!after || *after > *before)) return std::nullopt;
        break;
    }
    return found;
}

// The ledger as it would be if the job, with all its components, had what it needs, in any of the
// reservations it may run in, or outside; none: it has to wait.
std::optional<sched::LicenseLedger> Cluster::Impl::with_licenses(const Job& job) const {
    sched::LicenseLedger ledger = licenses_;
    std::vector<JobId> ids = live_components(job);
    // Those that are content with one of several come last.
    std::ranges::sort(ids, {},
                      [&](JobId id) { return std::pair(request_of(*jobs_.at(id).spec).any, id); });
    for (const JobId id : ids) {
        const Job& part = jobs_.at(id);
        std::vector<sched::WindowOwner> owners = owners_of(*part.spec);
        if (owners.empty()) owners.push_back(sched::kNobody);
        const auto claim = [&](sched::WindowOwner owner) {
            auto found = find_licenses(part, owner, ledger);
            if (found) ledger.claim(id, *std::move(found), now_ + limit_of(*part.spec), owner);
            return found.has_value();
        };
        if (std::ranges::none_of(owners, claim)) return std::nullopt;
    }
    return ledger;
}

bool Cluster::Impl::has_licenses(const Job& job) const {
    const auto needs_none = [&](JobId id) { return jobs_.at(id).spec->licenses.empty(); };
    const bool none = job.het ? std::ranges::all_of(live_components(job), needs_none)
                              : job.spec->licenses.empty();
    return none || with_licenses(job);
}

sched::QueueKey Cluster::Impl::license_key_of(const Job& job) const {
    const model::Partition* partition = partition_of(job);
    return partition != nullptr ? key_of(job, *partition)
                                : sched::QueueKey{0, 0, job.id.value, job.id};
}

void Cluster::Impl::leave_license_line(JobId job) {
    const auto place = license_places_.find(job);
    if (place == license_places_.end()) return;
    license_line_.erase(place->second);
    license_places_.erase(place);
}

// It stands in line, and people are told when its turn should come.
void Cluster::Impl::wait_for_licenses(Job& job) {
    const sched::QueueKey key = license_key_of(job);
    license_line_.insert(key);
    license_places_.insert_or_assign(job.id, key);
    auto& pending = std::get<model::Pending>(job.phase);
    const auto turn =
        licenses_.earliest(wanted_licenses(job), sched::kNobody, now_, limit_of(*job.spec));
    if (turn && *turn > now_ && *turn < now_ + sched::kForever / 2) pending.planned_start = turn;
    if (job.het) share_reason(job);
}

// Licenses came back: those in line who can have them now enter the queue, each beside those before
// it, as long as there is something left.
void Cluster::Impl::call_license_line() {
    if (license_line_.empty()) return;
    const sched::LicenseLedger truly = licenses_;
    std::vector<JobId> called;
    for (const sched::QueueKey& key : std::set<sched::QueueKey>(license_line_)) {
        const JobId id = key.job;
        auto with = with_licenses(jobs_.at(id));
        if (!with) continue;
        licenses_ = *std::move(with);
        leave_license_line(id);
        called.push_back(id);
    }
    licenses_ = truly;
    for (const JobId id : called) review(jobs_.at(id));
}

void Cluster::Impl::claim_licenses(const Job& job) {
    const model::Running* run = model::run_of(job);
    if (run == nullptr) return;
    const auto found = calendar_.find(run->reservation);
    const sched::WindowOwner owner = found == calendar_.end() ? sched::kNobody : found->second.id;
    auto held = model::parse_licenses(run->licenses);
    if (held) licenses_.claim(job.id, *std::move(held), held_until(job), owner);
}

void Cluster::Impl::release_licenses(const Job& job) {
    licenses_.release(job.id);
    call_license_line();
}

}  // namespace switchyard::core
