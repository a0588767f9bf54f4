// owner_notice.hpp: what the owner of an allocation (salloc, srun) hears of it while it lasts.
#pragma once

#include <cstdint>

namespace switchyard::model {

// Wire numbers: append only.
enum class OwnerNotice : std::uint32_t {
    TimeLimit = 0,
    Cancelled = 1,
    NodeFailed = 2,
    Suspended = 3,
    Resumed = 4,
    Message = 5,  // scontrol notify, or the output of a program of the site.
};

}  // namespace switchyard::model
