// server.hpp: the process-management interface of one step on one node: what lets the tasks of an
// MPI program find each other. A server gives each task a door (variables, and a descriptor where
// the protocol wants one), answers what the tasks ask, and exchanges with the servers of the other
// nodes by way of srun.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "pmi/place.hpp"

namespace switchyard::wire {
class PmiMessage;
}

namespace switchyard::pmi {

// What a task is started with.
struct Door {
    std::vector<std::string> environment;
    io::Fd fd;  // The task's end, to be inherited under this very number; may be none.
};

class Server {
  public:
    virtual ~Server() = default;
    virtual Result<Door> open_door(std::uint32_t local) = 0;
    virtual void receive(const wire::PmiMessage& message) = 0;  // From srun.
};

using Send = std::function<void(const wire::PmiMessage& message)>;  // To srun.
// Its doors may be opened now, or why they never can be. Once, never from inside make_server(): a
// library may take its time to start, and nobody waits for that.
using Ready = std::function<void(const Status& status)>;

// The kinds that `srun --mpi=list` names, those first that can be had on every machine.
std::vector<std::string_view> kinds();
// "pmi2", "pmix", "pmix_v4", "none" and so on; whatever stands before the first ',' or ':' counts.
bool is_kind(std::string_view word);
bool is_none(std::string_view word);  // Also "": no server.

// Unsupported: the library of OpenPMIx cannot be opened on this node.
Result<std::unique_ptr<Server>> make_server(std::string_view kind, io::Loop& loop, Place place,
                                            Send send, Ready ready);

}  // namespace switchyard::pmi
