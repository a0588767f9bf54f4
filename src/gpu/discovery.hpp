// discovery.hpp: from cards to the inventory that a node reports, and the comparison of what was
// configured with what is there.
//
// Type names are the driver's with spaces as underscores ("NVIDIA_H200", "Quadro_RTX_4000"). A
// configured type stands for a card if it is part of that name, whatever the case ("h200",
// "rtx_4000"), as with Slurm. A slice of a card in MIG mode has its profile in its type
// ("nvidia_a100_1g.5gb" matches "1g.5gb").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/card.hpp"
#include "model/gres.hpp"

namespace switchyard::gpu {

// "Quadro RTX 4000" -> "Quadro_RTX_4000".
std::string type_name(std::string_view card_name);
// True if `configured` may stand for a card of the type `found`.
bool type_matches(std::string_view configured, std::string_view found);

// What a node can hand out: a card, or a slice of one.
struct Device {
    std::string type;
    std::vector<std::string> files;  // Of a slice: the card and its two capability files.
    model::IndexSet cores;           // Near it; empty: unknown, or all.
    model::IndexSet links;           // Positions of the devices it is linked to.
    std::uint64_t memory_bytes = 0;
    std::uint32_t card = 0;  // NVML's index.
    std::string uuid;        // Of the slice, or of the card.
    bool is_slice = false;
    bool operator==(const Device&) const = default;
};

// Reads "DeviceFileMinor: 12" of a capability such as gpu0/mig/gi1/access; nullopt if there is
// none. Given as a function so that tests need no driver.
using CapabilityMinor = std::optional<std::uint32_t> (*)(const std::string& capability);
std::optional<std::uint32_t> capability_minor(const std::string& capability);

// In the order of device minors, which is the order Slurm numbers them in. `core_cpus`: hardware
// threads by core number (empty: cores are not told).
std::vector<Device> find_devices(const std::vector<Card>& cards,
                                 const std::vector<model::IndexSet>& core_cpus,
                                 CapabilityMinor capability = capability_minor);

// One entry per type, the cards numbered by their position in `devices`.
std::vector<model::GresInventory> inventory_of(const std::vector<Device>& devices);

// What was configured for a node, made concrete by what it has.
struct Match {
    std::vector<model::GresInventory> gres;  // As configured; files, cores and links as found.
    std::string problem;                     // Names both, for draining; empty: they agree.
};
// `configured` may leave out types and files. Nothing configured: what was found, as it is.
Match match_inventory(const std::vector<model::GresInventory>& configured,
                      const std::vector<Device>& devices);

}  // namespace switchyard::gpu
