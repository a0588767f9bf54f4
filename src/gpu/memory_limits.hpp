// memory_limits.hpp: the driver's own limits on the memory of a card, one for each cgroup.
//
// From r615 on NVIDIA's driver limits what the processes of a cgroup (version 2) hold of a card,
// through the kernel's dmem controller where there is one and by its own count elsewhere. NVML sets
// the limit; a write to dmem.max would leave out what the driver keeps beside it. No program can
// escape such a limit: it fails with CUDA's ordinary out-of-memory error. Parts of a card (MIG)
// cannot be limited so.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "gpu/card.hpp"

namespace switchyard::gpu {

class MemoryLimits {
  public:
    // Fails where the driver knows no such limits.
    static Result<MemoryLimits> open(const std::string& library = "libnvidia-ml.so.1");
    ~MemoryLimits();
    MemoryLimits(MemoryLimits&& other) noexcept;
    MemoryLimits& operator=(MemoryLimits&&) = delete;

    // What a cgroup may hold of a card, in bytes; the largest number there is: all. An error: no
    // limit of it can be set there. `card`: as the driver names it; `cgroup`: the folder's path.
    Result<std::uint64_t> get(const std::string& card, const std::string& cgroup) const;
    // Holds when it returns. Needs root. It goes with the cgroup.
    Status set(const std::string& card, const std::string& cgroup, std::uint64_t bytes) const;

  private:
    struct Library;
    explicit MemoryLimits(Library* library) : library_(library) {}
    Library* library_;  // Null after a move.
};

// Whether all of `cards` can be limited for jobs in `cgroup`, by us; none there are cannot.
bool limits_all(const std::vector<Card>& cards, const std::string& cgroup,
                const std::string& library = "libnvidia-ml.so.1");

}  // namespace switchyard::gpu
