// frequency.hpp: how fast the processors of this host run at this moment.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace switchyard::os {

// One look: each processor is read once, when it is asked for.
class Frequencies {
  public:
    explicit Frequencies(std::string root = "") : root_(std::move(root)) {}

    // kHz, by its governor (/sys), else by /proc/cpuinfo. None: neither says it.
    std::optional<std::uint64_t> of_cpu(std::uint32_t cpu);

  private:
    std::optional<std::uint64_t> read(std::uint32_t cpu);
    void read_cpuinfo();

    std::string root_;  // Before /sys and /proc; for tests.
    std::map<std::uint32_t, std::optional<std::uint64_t>> seen_;
    std::optional<std::map<std::uint32_t, std::uint64_t>> cpuinfo_;
};

}  // namespace switchyard::os
