// card_turns.hpp: the memory in which jobs take turns on the cards whose shares the guard keeps.
//
// Jobs of several users write to it, so none may be able to take it from the others: see
// os/sealed_memory.hpp. It has no name; stepds are told where this process has it, and hand it to
// their tasks. Those that live through a restart of the agent still have it, and a new agent takes
// it from them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.hpp"
#include "io/fd.hpp"
#include "model/index_set.hpp"

namespace switchyard::agent {

class CardTurns {
  public:
    // `folder`: of this node's shares, which no other node has. What is there already is kept.
    Status keep(const std::string& folder, const model::IndexSet& devices);
    // "/proc/PID/fd/N" by device.
    std::map<std::uint32_t, std::string> paths() const;

  private:
    std::map<std::uint32_t, io::Fd> memory_;
};

}  // namespace switchyard::agent
