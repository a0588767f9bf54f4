// gpu_energy.hpp: what the cards of each step drew while it had them.
//
// Between two looks a card drew what its counter of energy says, or, where it has none, the mean of
// its power at both times the time between them. That is given to steps which were there at both
// looks, every part of it to one of them only:
// - of a card that a job holds whole, all of it to that job; of one that several jobs have shares
//   of, to each the part of what all processes used that its own did. If nobody used it, or that
//   cannot be told, a job's part is its share of the card; the rest is nobody's.
// - within a job, to its steps by what their processes used; if that cannot be told, to one: of
//   those that have processes on the card, or else of all, the last that srun made, or the script.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "agent/gpu_watch.hpp"
#include "base/ids.hpp"

namespace switchyard::agent {

// A live step of a job that holds cards here.
struct StepCards {
    StepKey key;
    std::set<std::uint32_t> devices;
    bool shared = false;  // Only shares of them.
    std::set<pid_t> pids;
    std::uint32_t task = 0;                     // The first of its ranks on this node.
    std::map<std::uint32_t, double> part = {};  // Its job's share of each; whole without one.
};

// Of the steps of one job, the one that most likely works: the last that srun made. Null: these are
// of several jobs, or there are none.
const StepCards* likely_worker(const std::vector<const StepCards*>& steps);

class GpuEnergy {
  public:
    struct Drawn {
        Millis since{}, until{};  // The first and the last look at it.
        bool told = false;        // Its cards tell what they draw.
        double millijoules = 0;
        double milliwatts = 0, most_milliwatts = 0;  // At the last look; ever.

        // Over all the time it was seen.
        double average_milliwatts() const;
    };

    void add(const GpuSight& sight, const std::vector<StepCards>& steps);
    const Drawn* drawn_by(const StepKey& key) const;  // Null: it was never seen.
    void keep_only(const std::set<StepKey>& keys);

    // For the next agent: lines of text. What does not read is left out.
    std::string save() const;
    void load(std::string_view text);

  private:
    struct Reading {
        Millis at{};
        std::optional<std::uint64_t> millijoules;
        std::optional<std::uint32_t> milliwatts;
    };
    using Parts = std::map<StepKey, double>;

    static double between(const Reading& before, const Reading& after);
    Parts divide(std::uint32_t device, const gpu::CardSample& sample,
                 const std::vector<const StepCards*>& holders) const;
    void add_card(std::uint32_t device, const gpu::CardSample& sample, Millis at,
                  const std::vector<StepCards>& steps);

    std::map<std::uint32_t, Reading> cards_;  // As last seen.
    std::map<StepKey, Drawn> drawn_;
    // What the processes of a step used of a card at the last look: they may be gone at the next.
    std::map<std::pair<StepKey, std::uint32_t>, double> used_;
};

}  // namespace switchyard::agent
