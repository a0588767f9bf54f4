// run.hpp: one simulation: a world, a controller, nodes, clients and the checker, from one seed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/checker.hpp"
#include "sim/clients.hpp"
#include "sim/controller.hpp"
#include "sim/node.hpp"
#include "sim/world.hpp"

namespace switchyard::sim {

// Short enough that everything happens within a simulated run of some minutes.
inline constexpr Seconds kNodeTimeout{20};
inline constexpr Seconds kOwnerGrace{15};
inline constexpr Seconds kKillWait{3};

struct Figures {
    std::uint64_t events = 0, jobs = 0, crashes = 0, faults = 0;
};

class Simulation {
  public:
    Simulation(std::uint64_t seed, bool tracing);
    Figures run();

    World world;
    Checker checker;
    SimController controller;
    std::vector<std::unique_ptr<SimNode>> nodes;
    Clients clients;
    Figures figures;
    bool faulty = true;  // Until the end, when everything is healed.

    SimNode* find_node(const std::string& name);

  private:
    static core::Settings settings(std::uint64_t seed);
    void something_breaks();
    void heal();
};

}  // namespace switchyard::sim
