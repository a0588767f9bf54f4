// hub.hpp: srun's part. The servers of a step's nodes talk through their srun, which knows them
// all: it gathers the parts of an exchange and gives the whole to everyone who took part, and hands
// on what one node asks another.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace switchyard::wire {
class PmiMessage;
}

namespace switchyard::pmi {

// PmiMessage.kind.
enum class Kind : std::uint32_t {
    Part = 1,    // To srun: this node's part of the exchange `name` among `nodes` (none: all).
    Whole = 2,   // From srun: the parts in the order of `nodes`.
    Ask = 3,     // For the node `to`; it arrives with `from`.
    Answer = 4,  // Back to the node `to`, with the ask's name. No parts: it could not be told.
    Abort = 5,   // To srun: a task wants the whole step ended; `name` is what it says.
};

class Hub {
  public:
    explicit Hub(std::uint32_t node_count) : node_count_(node_count) {}

    struct Delivery {
        std::uint32_t node;
        std::string message;  // An encoded PmiMessage.
    };
    // What follows from a message of the node `from`.
    std::vector<Delivery> take(std::uint32_t from, const wire::PmiMessage& message);

  private:
    std::vector<Delivery> gather(std::uint32_t from, const wire::PmiMessage& message);

    std::uint32_t node_count_;
    std::map<std::string, std::map<std::uint32_t, std::string>> exchanges_;
};

}  // namespace switchyard::pmi
