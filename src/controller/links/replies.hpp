// replies.hpp: answers as frames.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/cluster/cluster.hpp"
#include "core/cluster/effect.hpp"

namespace switchyard::wire {
class Reply;
class Request;
}  // namespace switchyard::wire

namespace switchyard::controller {

// The one and last answer to a request, to be filled in.
wire::Reply answer_to(const wire::Request& request);
// What a command is told when its request cannot be met.
std::string failure_frame(std::uint64_t request, const Error& error,
                          const std::vector<std::string>& notes = {});
// "Done", nothing to add.
std::string done_frame(std::uint64_t request);
// An answer of the core. Jobs and steps it names are read from the cluster as it is now.
std::string reply_frame(std::uint64_t request, const core::effect::Reply& reply,
                        const core::Cluster& cluster);

}  // namespace switchyard::controller
