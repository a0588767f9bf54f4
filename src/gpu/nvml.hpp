// nvml.hpp: NVIDIA's management library, opened at run time: what cards are here and what they do.
//
// A machine without the library or without a driver is not an error of ours: open() says what is
// missing and the node has no cards. Every call may meet a card that has just fallen off the bus.
// For one thread: the agent's sampler owns it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "gpu/card.hpp"

namespace switchyard::gpu {

class Nvml {
  public:
    // `library`: a path, or a name for the loader to find.
    static Result<std::unique_ptr<Nvml>> open(const std::string& library = "libnvidia-ml.so.1");
    ~Nvml();
    Nvml(const Nvml&) = delete;
    Nvml& operator=(const Nvml&) = delete;

    Result<std::string> driver_version();
    // All cards, in NVML's order. A card that does not answer is left out here and shows up in
    // faults().
    Result<std::vector<Card>> cards();
    Result<CardSample> sample(std::uint32_t index);
    // What went wrong since the last call: XID events, and cards that no longer answer. Waits at
    // most `wait` for an event.
    std::vector<CardFault> faults(Millis wait = Millis{0});

  private:
    struct Library;
    explicit Nvml(std::unique_ptr<Library> library);
    std::unique_ptr<Library> library_;
};

// Whether an XID tells of broken hardware or driver (true), or of a faulty program.
bool is_fatal_xid(std::uint64_t xid);

}  // namespace switchyard::gpu
