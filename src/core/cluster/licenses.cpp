// licenses.cpp: see licenses.hpp.

#include "core/cluster/licenses.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "core/cluster/job_facts.hpp"
#include "core/cluster/planning/terms.hpp"

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

Status Licenses::check(const JobSpec& spec) const {
    if (spec.licenses.empty()) return {};
    SY_TRY(const auto request, model::parse_license_request(spec.licenses));
    if (!ledger_.could_meet(request)) return fail(Errc::InvalidLicenses);
    return {};
}

// Those components that are content with one of several come last.
bool Licenses::suffice(const std::vector<JobSpec>& specs) const {
    sched::LicenseLedger ledger;
    ledger.reset(world_.settings.licenses);
    const auto claim = [&](bool any) {
        for (std::uint32_t i = 0; i < specs.size(); ++i) {
            const model::LicenseRequest request = request_of(specs[i]);
            if (request.any != any || request.entries.empty()) continue;
            auto found = ledger.find(request, sched::kNobody, world_.now, world_.now);
            if (!found) return false;
            ledger.claim(JobId{i + 1}, *std::move(found), Instant::max(), sched::kNobody);
        }
        return true;
    };
    return claim(false) && claim(true);
}

// All that a job needs to start; of what is only one of several, the first.
model::LicenseRequest Licenses::wanted_by(const Job& job) const {
    if (!job.het) return request_of(*job.spec);
    model::LicenseRequest all;
    for (const JobId id : hets_.live_components(job)) {
        model::LicenseRequest one = request_of(*world_.jobs.at(id).spec);
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

std::optional<std::vector<model::License>> Licenses::find(
    const Job& job, sched::WindowOwner owner, const sched::LicenseLedger& ledger) const {
    if (job.spec->licenses.empty()) return std::vector<model::License>();
    const model::LicenseRequest request = request_of(*job.spec);
    const Instant end = world_.now + limit_of(*job.spec);
    auto found = ledger.find(request, owner, world_.now, end);
    if (!found || line_.empty()) return found;
    const sched::QueueKey own = key_for(hets_.leader_of(job));
    for (const sched::QueueKey& key : line_) {
        if (!(key < own)) break;
        const Job& first = world_.jobs.at(key.job);
        const model::LicenseRequest wanted = wanted_by(first);
        if (!share_a_name(request, wanted)) continue;
        const Seconds limit = limit_of(*first.spec);
        const auto before = ledger.earliest(wanted, sched::kNobody, world_.now, limit);
        sched::LicenseLedger beside = ledger;
        beside.claim(job.id, *found, end, owner);
        const auto after = beside.earliest(wanted, sched::kNobody, world_.now, limit);
        if (before && (!after || *after > *before)) return std::nullopt;
        break;
    }
    return found;
}

// The ledger as it would be if the job, with all its components, had what it needs, in any of the
// reservations it may run in, or outside; none: it has to wait.
std::optional<sched::LicenseLedger> Licenses::with_licenses(const Job& job) const {
    sched::LicenseLedger ledger = ledger_;
    std::vector<JobId> ids = hets_.live_components(job);
    // Those that are content with one of several come last.
    std::ranges::sort(
        ids, {}, [&](JobId id) { return std::pair(request_of(*world_.jobs.at(id).spec).any, id); });
    for (const JobId id : ids) {
        const Job& part = world_.jobs.at(id);
        std::vector<sched::WindowOwner> owners = calendar_.owners_of(*part.spec);
        if (owners.empty()) owners.push_back(sched::kNobody);
        const auto claim = [&](sched::WindowOwner owner) {
            auto found = find(part, owner, ledger);
            if (found)
                ledger.claim(id, *std::move(found), world_.now + limit_of(*part.spec), owner);
            return found.has_value();
        };
        if (std::ranges::none_of(owners, claim)) return std::nullopt;
    }
    return ledger;
}

bool Licenses::has_for(const Job& job) const {
    const auto needs_none = [&](JobId id) { return world_.jobs.at(id).spec->licenses.empty(); };
    const bool none = job.het ? std::ranges::all_of(hets_.live_components(job), needs_none)
                              : job.spec->licenses.empty();
    return none || with_licenses(job);
}

sched::QueueKey Licenses::key_for(const Job& job) const {
    const model::Partition* partition = world_.partition_of(job);
    return partition != nullptr ? key_of(job, *partition)
                                : sched::QueueKey{0, 0, job.id.value, job.id};
}

void Licenses::leave_line(JobId job) {
    const auto place = places_.find(job);
    if (place == places_.end()) return;
    line_.erase(place->second);
    places_.erase(place);
}

void Licenses::wait(Job& job) {
    const sched::QueueKey key = key_for(job);
    line_.insert(key);
    places_.insert_or_assign(job.id, key);
    auto& pending = std::get<model::Pending>(job.phase);
    const auto turn =
        ledger_.earliest(wanted_by(job), sched::kNobody, world_.now, limit_of(*job.spec));
    if (turn && *turn > world_.now && *turn < world_.now + sched::kForever / 2)
        pending.planned_start = turn;
    if (job.het) hets_.share_reason(job);
}

void Licenses::call_line() {
    if (line_.empty()) return;
    const sched::LicenseLedger truly = ledger_;
    std::vector<JobId> called;
    for (const sched::QueueKey& key : std::set<sched::QueueKey>(line_)) {
        const JobId id = key.job;
        auto with = with_licenses(world_.jobs.at(id));
        if (!with) continue;
        ledger_ = *std::move(with);
        leave_line(id);
        called.push_back(id);
    }
    ledger_ = truly;
    for (const JobId id : called) world_.agenda.review(id);
}

void Licenses::hold(const Job& job, Instant until) {
    const model::Running* run = model::run_of(job);
    if (run == nullptr) return;
    const model::Reservation* reservation = calendar_.find(run->reservation);
    const sched::WindowOwner owner = reservation == nullptr ? sched::kNobody : reservation->id;
    auto held = model::parse_licenses(run->licenses);
    if (held) ledger_.claim(job.id, *std::move(held), until, owner);
}

void Licenses::clear() {
    ledger_.reset(world_.settings.licenses);
    line_.clear();
    places_.clear();
}

void Licenses::observe(const Transition& transition) {
    if (transition.cause != Cause::Left) return;
    ledger_.release(transition.job.id);
    call_line();
}

void Licenses::check() const {
    std::map<std::string, std::uint32_t> held;
    for (const auto& [id, job] : world_.jobs) {
        const bool pending = std::holds_alternative<model::Pending>(job.phase);
        SY_ASSERT(pending || !places_.contains(id));
        if (pending || std::holds_alternative<model::Ended>(job.phase)) continue;
        const auto* completing = std::get_if<model::Completing>(&job.phase);
        if (completing != nullptr && completing->epilog) continue;
        for (const model::License& license : *model::parse_licenses(model::run_of(job)->licenses))
            held[license.name] += license.count;
    }
    for (const model::LicenseUse& license : use()) SY_ASSERT(license.used == held[license.name]);
}

}  // namespace switchyard::core
