// query_context.hpp: what the handlers of queries may use: they read and answer, and change
// nothing.
#pragma once

#include <functional>

#include "controller/links/agents.hpp"
#include "controller/links/calls.hpp"
#include "controller/names/names.hpp"
#include "controller/queries/reader_thread.hpp"
#include "controller/turn/durable_view.hpp"
#include "core/cluster/cluster.hpp"
#include "io/loop.hpp"

namespace switchyard::controller {

class JobStreams;
class Pids;

struct QueryContext {
    io::Loop& loop;
    Calls& calls;
    Sessions& sessions;
    const core::Cluster& cluster;
    const Names& names;
    Agents& agents;
    DurableView& durable;
    ReaderThread& reader;
    JobStreams& streams;
    Pids& pids;
    std::function<Instant()> now;
};

}  // namespace switchyard::controller
