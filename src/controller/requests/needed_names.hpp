// needed_names.hpp: what the name service is asked before a request is handled: handlers read what
// is known by then.
#pragma once

#include <vector>

#include "controller/links/sessions.hpp"
#include "controller/names/names.hpp"
#include "controller/turn/figures.hpp"
#include "core/cluster/cluster.hpp"
#include "model/rights.hpp"

namespace switchyard::wire {
class Request;
}

namespace switchyard::controller {

struct NeededNames {
    std::vector<NameKey> keys;
    // Without an answer the request is refused; others go on with numbers, or without groups.
    bool required = false;
    std::vector<NameKey> soon;  // Not waited for: what comes of the request will need them.
};

// What `known` says already may make more of them: to be asked again once they are known.
NeededNames needed_names(const wire::Request& request, const Session& session,
                         const model::Rights& rights, const core::Cluster& cluster,
                         const Figures& figures, const Names& known);

}  // namespace switchyard::controller
