// bulk.hpp: the bulky part of a request, which decides nothing: script and environment of a job, or
// command line and environment of a step. From arrival to launch it is the bytes it came in: cut
// out of the request (requests/wire_fields.hpp), held until the core has named its job or step
// (links/calls.hpp), written beside the record, kept at hand (payloads.hpp), put into the launch
// (launch.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace switchyard::controller {

using Bulk = std::shared_ptr<const std::string>;  // An encoded wire::JobPayload or StepLaunch.

// That of a request, until the core has named the job or step it belongs to.
struct HeldBulk {
    Bulk job;
    Bulk step;
    std::vector<Bulk> more_steps;      // Of a step's parts in other components.
    std::vector<Bulk> crontab;         // Of its lines, in order.
    std::function<void()> on_failure;  // Undoes what was done before the core said no.
};

}  // namespace switchyard::controller
