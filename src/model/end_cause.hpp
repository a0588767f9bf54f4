// end_cause.hpp: why a job or step is ended. It decides the line that stepd writes into the output.
#pragma once

#include <cstdint>

namespace switchyard::model {

// Wire numbers: append only.
enum class EndCause : std::uint32_t {
    Finished = 0,
    Cancelled = 1,
    TimeLimit = 2,
    NodeFailed = 3,
    Preempted = 4,
    Requeued = 5,
    TaskFailed = 6,  // srun -K: of a step only, told by its srun.
};

}  // namespace switchyard::model
