// card.hpp: one GPU as its driver describes it, and what it does at a moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/index_set.hpp"

namespace switchyard::gpu {

// A part of a card made by MIG: a card of its own to whoever holds it.
struct MigSlice {
    std::string profile;  // "1g.10gb"
    std::string uuid;     // What CUDA_VISIBLE_DEVICES names it by.
    std::uint64_t memory_bytes = 0;
    std::uint32_t gpu_instance = 0, compute_instance = 0;
    bool operator==(const MigSlice&) const = default;
};

struct Card {
    std::uint32_t index = 0;         // Of NVML: in PCI order.
    std::uint32_t minor_number = 0;  // Of /dev/nvidia<minor>; not always the index.
    std::string name;                // "NVIDIA H200"
    std::string uuid;
    std::uint64_t memory_bytes = 0;
    model::IndexSet cpus;   // Hardware threads near it, as the system numbers them; empty: unknown.
    model::IndexSet links;  // Indexes of the cards it has NVLink to.
    bool mig = false;
    std::vector<MigSlice> slices;
    bool operator==(const Card&) const = default;
};

struct CardProcess {
    std::uint32_t pid = 0;
    std::uint64_t memory_bytes = 0;           // 0 where the driver does not say.
    std::optional<std::uint32_t> sm_percent;  // Of the card, over the driver's sample period.
    bool operator==(const CardProcess&) const = default;
};

// What a card does now. What it cannot tell is left out.
struct CardSample {
    std::optional<std::uint32_t> utilization_percent;
    std::optional<std::uint64_t> memory_used_bytes;
    std::optional<std::uint32_t> power_milliwatts;
    std::optional<std::uint64_t> energy_millijoules;  // Since the driver was loaded.
    std::vector<CardProcess> processes;
    bool operator==(const CardSample&) const = default;
};

// Something wrong with a card, in words for a drain reason: "XID 79", "GPU is lost".
struct CardFault {
    std::uint32_t index = 0;
    std::string what;
    bool fatal = true;  // False: the fault of a program (an illegal address), not of the card.
    bool operator==(const CardFault&) const = default;
};

}  // namespace switchyard::gpu
