// license_ledger.cpp: see license_ledger.hpp.

#include "core/sched/license_ledger.hpp"

#include <algorithm>
#include <set>

#include "base/assert.hpp"

namespace switchyard::core::sched {
namespace {

std::int64_t count_of(const std::vector<model::License>& licenses, std::string_view name) {
    const auto found = std::ranges::find(licenses, name, &model::License::name);
    return found == licenses.end() ? 0 : found->count;
}

}  // namespace

void LicenseLedger::reset(const std::vector<model::License>& totals) {
    totals_.clear();
    holdings_.clear();
    kept_.clear();
    for (const model::License& license : totals) totals_[license.name] = license.count;
}

void LicenseLedger::claim(JobId job, std::vector<model::License> licenses, Instant until,
                          WindowOwner owner) {
    if (licenses.empty()) return;
    const bool fresh =
        holdings_.try_emplace(job, Holding{std::move(licenses), until, owner}).second;
    SY_ASSERT(fresh);
}

void LicenseLedger::set_until(JobId job, Instant until) {
    if (const auto found = holdings_.find(job); found != holdings_.end())
        found->second.until = until;
}

// By those who stay beyond `at`; of one owner, or of all.
std::int64_t LicenseLedger::used(std::string_view name, Instant at,
                                 std::optional<WindowOwner> owner) const {
    std::int64_t sum = 0;
    for (const auto& [job, holding] : holdings_) {
        if (holding.until > at && (!owner || holding.owner == *owner))
            sum += count_of(holding.licenses, name);
    }
    return sum;
}

// What is neither held at that moment nor kept back for others. Whoever should have left by now
// still holds what they hold.
std::int64_t LicenseLedger::free_at(std::string_view name, WindowOwner owner, Instant at,
                                    Instant now) const {
    const auto total = totals_.find(name);
    if (total == totals_.end()) return 0;
    const Instant seen = at <= now ? Instant::min() : at;
    std::int64_t free = std::int64_t{total->second} - used(name, seen, std::nullopt);
    for (const Kept& kept : kept_) {
        if (kept.owner == owner || kept.from > at || kept.until <= at) continue;
        const std::int64_t back = count_of(kept.licenses, name) - used(name, seen, kept.owner);
        free -= std::max<std::int64_t>(0, back);
    }
    return free;
}

bool LicenseLedger::has(const model::License& wanted, WindowOwner owner, Instant from,
                        Instant until) const {
    if (free_at(wanted.name, owner, from, from) < wanted.count) return false;
    return std::ranges::all_of(kept_, [&](const Kept& kept) {
        if (kept.owner == owner || kept.from <= from || kept.from >= until) return true;
        return free_at(wanted.name, owner, kept.from, from) >= wanted.count;
    });
}

bool LicenseLedger::could_meet(const model::LicenseRequest& request) const {
    const auto is_there = [&](const model::License& wanted) {
        const auto total = totals_.find(wanted.name);
        return total != totals_.end() && total->second >= wanted.count;
    };
    if (request.entries.empty()) return true;
    return request.any ? std::ranges::any_of(request.entries, is_there)
                       : std::ranges::all_of(request.entries, is_there);
}

std::optional<std::vector<model::License>> LicenseLedger::find(const model::LicenseRequest& request,
                                                               WindowOwner owner, Instant from,
                                                               Instant until) const {
    std::vector<model::License> given;
    for (const model::License& wanted : request.entries) {
        if (has(wanted, owner, from, until)) {
            if (request.any) return std::vector{wanted};
            given.push_back(wanted);
        } else if (!request.any) {
            return std::nullopt;
        }
    }
    if (request.any) return std::nullopt;
    return given;
}

std::optional<Instant> LicenseLedger::earliest(const model::LicenseRequest& request,
                                               WindowOwner owner, Instant from,
                                               Seconds limit) const {
    if (find(request, owner, from, from + limit)) return from;
    std::set<Instant> moments;
    for (const auto& [job, holding] : holdings_) moments.insert(std::max(holding.until, from));
    for (const Kept& kept : kept_) moments.insert(std::max(kept.until, from));
    // As if those who leave by then had left.
    for (const Instant moment : moments) {
        LicenseLedger then = *this;
        std::erase_if(then.holdings_,
                      [&](const auto& each) { return each.second.until <= moment; });
        if (then.find(request, owner, moment, moment + limit)) return moment;
    }
    return std::nullopt;
}

std::vector<model::LicenseUse> LicenseLedger::use(Instant now) const {
    std::vector<model::LicenseUse> all;
    for (const auto& [name, total] : totals_) {
        model::LicenseUse one{name, total, 0, 0};
        one.used = static_cast<std::uint32_t>(used(name, Instant::min(), std::nullopt));
        for (const Kept& kept : kept_) {
            if (kept.from <= now && now < kept.until)
                one.reserved += static_cast<std::uint32_t>(count_of(kept.licenses, name));
        }
        all.push_back(std::move(one));
    }
    return all;
}

}  // namespace switchyard::core::sched
