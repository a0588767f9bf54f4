// license_ledger.hpp: who holds which licenses of the cluster and until when, and what reservations
// keep back for their own jobs.
//
// Like the pool of nodes it is the one place where a license changes hands. Pure: it knows nothing
// of queues and states.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "core/sched/windows.hpp"
#include "model/licenses.hpp"

namespace switchyard::core::sched {

class LicenseLedger {
  public:
    // Kept back for the jobs of a reservation, from then until then.
    struct Kept {
        WindowOwner owner = kNobody;
        Instant from{}, until{};
        std::vector<model::License> licenses;
    };

    // Starts over: so many there are, and nobody holds any.
    void reset(const std::vector<model::License>& totals);
    void set_kept(std::vector<Kept> kept) { kept_ = std::move(kept); }
    void claim(JobId job, std::vector<model::License> licenses, Instant until, WindowOwner owner);
    void release(JobId job) { holdings_.erase(job); }
    void set_until(JobId job, Instant until);

    // Whether there are so many at all, held or not.
    bool could_meet(const model::LicenseRequest& request) const;
    // What a job of `owner` would be given of them from `from` until `until`; none: it must wait.
    std::optional<std::vector<model::License>> find(const model::LicenseRequest& request,
                                                    WindowOwner owner, Instant from,
                                                    Instant until) const;
    // When it would be given them, if everybody stays as long as they may; none: never.
    std::optional<Instant> earliest(const model::LicenseRequest& request, WindowOwner owner,
                                    Instant from, Seconds limit) const;
    std::vector<model::LicenseUse> use(Instant now) const;

  private:
    struct Holding {
        std::vector<model::License> licenses;
        Instant until{};
        WindowOwner owner = kNobody;
    };
    std::int64_t used(std::string_view name, Instant at, std::optional<WindowOwner> owner) const;
    std::int64_t free_at(std::string_view name, WindowOwner owner, Instant at, Instant now) const;
    bool has(const model::License& wanted, WindowOwner owner, Instant from, Instant until) const;

    std::map<std::string, std::uint32_t, std::less<>> totals_;
    std::map<JobId, Holding> holdings_;
    std::vector<Kept> kept_;
};

}  // namespace switchyard::core::sched
