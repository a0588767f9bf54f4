// statistics.hpp: what the controller counts of itself, as sdiag shows it. What it has no
// counterpart of (threads that serve, queues to agents and to a database daemon) is zero.
#pragma once

#include <string>

#include "model/statistics.hpp"
#include "view/document.hpp"

namespace switchyard::view {

enum class RequestOrder { ByCount, ById, ByTotalTime, ByMeanTime };

// `clock_us`: what a thousand looks at the clock took.
std::string statistics_text(const model::Statistics& statistics, RequestOrder order,
                            std::int64_t clock_us);
// "statistics": {...}
void write_statistics(Document& document, const model::Statistics& statistics);

}  // namespace switchyard::view
