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

Seconds limit_of(const JobSpec& spec) {
    return spec.time_limit && !spec.time_limit->unlimited ? spec.time_limit->seconds
                                                          : sched::kForever;
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

// What it would get now, in the reservation `owner`; none: it has to wait.
std::optional<std::vector<model::License>> Cluster::Impl::find_licenses(
    const Job& job, sched::WindowOwner owner) const {
    if (job.spec->licenses.empty()) return std::vector<model::License>();
    const model::LicenseRequest request = request_of(*job.spec);
    const Instant end = now_ + limit_of(*job.spec);
    auto found = licenses_.find(request, owner, now_, end);
    if (!found || license_line_.empty()) return found;
    const sched::QueueKey own = license_key_of(job);
    for (const sched::QueueKey& key : license_line_) {
        if (!(key < own)) break;
        const JobSpec& first = *jobs_.at(key.job).spec;
        const model::LicenseRequest wanted = request_of(first);
        if (!share_a_name(request, wanted)) continue;
        const auto before = licenses_.earliest(wanted, sched::kNobody, now_, limit_of(first));
        sched::LicenseLedger beside = licenses_;
        beside.claim(job.id, *found, end, owner);
        const auto after = beside.earliest(wanted, sched::kNobody, now_, limit_of(first));
        if (before && (!after || *after > *before)) return std::nullopt;
        break;
    }
    return found;
}

// In any of the reservations it may run in, or outside.
bool Cluster::Impl::has_licenses(const Job& job) const {
    if (job.spec->licenses.empty()) return true;
    std::vector<sched::WindowOwner> owners = owners_of(*job.spec);
    if (owners.empty()) owners.push_back(sched::kNobody);
    return std::ranges::any_of(
        owners, [&](sched::WindowOwner owner) { return find_licenses(job, owner).has_value(); });
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
        licenses_.earliest(request_of(*job.spec), sched::kNobody, now_, limit_of(*job.spec));
    if (turn && *turn > now_ && *turn < now_ + sched::kForever / 2) pending.planned_start = turn;
}

// Licenses came back: those in line who can have them now enter the queue, each beside those before
// it, as long as there is something left.
void Cluster::Impl::call_license_line() {
    if (license_line_.empty()) return;
    const sched::LicenseLedger truly = licenses_;
    std::vector<JobId> called;
    for (const sched::QueueKey& key : std::set<sched::QueueKey>(license_line_)) {
        const JobId id = key.job;
        const Job& job = jobs_.at(id);
        std::vector<sched::WindowOwner> owners = owners_of(*job.spec);
        if (owners.empty()) owners.push_back(sched::kNobody);
        for (const sched::WindowOwner owner : owners) {
            const auto found = find_licenses(job, owner);
            if (!found) continue;
            licenses_.claim(id, *found, now_ + limit_of(*job.spec), owner);
            leave_license_line(id);
            called.push_back(id);
            break;
        }
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
