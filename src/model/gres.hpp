// gres.hpp: generic resources (gpu, shard, mps, anything counted): asked for, owned, granted.
//
// A device is one card: it has an index on its node. A whole-card grant names indexes; a shard
// grant names how many shares of which index. Resources without devices (no File= and no cards) are
// only counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/index_set.hpp"

namespace switchyard::model {

// "gpu:rtx4000:2" -> {gpu, rtx4000, 2}; without a count, 1.
struct GresRequest {
    std::string name;
    std::string type;  // Empty: any.
    std::uint64_t count = 1;
    bool operator==(const GresRequest&) const = default;
};

// --gres text, and Gres= of a NodeName line; "gres/gpu:2" and "gpu=2" are read, too, and terms for
// the same thing are added up. "none" and "" are an empty list. Zero, negative and overflowing
// counts and malformed terms are Errc::InvalidGres.
Result<std::vector<GresRequest>> parse_gres(std::string_view text);
// --gpus, --gpus-per-node, --gpus-per-task, --gpus-per-socket: "2", "rtx4000:2",
// "rtx4000:1,a100:2".
Result<std::vector<GresRequest>> parse_gpus(std::string_view text);
std::string to_string(const std::vector<GresRequest>& requests);  // "gpu:rtx4000:2,shard:16"
// With the prefix that squeue %b and TresPerNode print: "gres/gpu:rtx4000:2,gres/shard:16".
std::string to_tres_string(const std::vector<GresRequest>& requests);

// What a node has of one name and type.
struct GresInventory {
    std::string name;         // "gpu", "shard", "license_dongle"
    std::string type;         // "rtx4000", or empty
    std::uint64_t count = 0;  // Cards for gpu; the sum of all shares for shard and mps.
    IndexSet devices;         // Card indexes; for shard and mps, the cards the shares are of.
    // Device files by position in `devices`; may be empty. Several of one device are joined by ','.
    std::vector<std::string> files;
    IndexSet cores;  // Cores close to these devices; empty: all.
    // By position in `devices`, where cards differ; empty: `cores` for all, no fast links known.
    std::vector<IndexSet> device_cores = {};
    std::vector<IndexSet> device_links = {};  // The cards each one has a direct link to.
    // What the vendor's libraries call each device (UUIDs); empty: they are known by number only.
    std::vector<std::string> device_names = {};
    std::vector<std::uint64_t> device_memory = {};  // MiB of each device; empty: not known.
    // How the node keeps a shard job to its share: "dmem", "mps", "guard", or "none". Empty: whole
    // cards, or none that could be held. In a configuration: the level that was asked for.
    std::string protection = {};
    bool operator==(const GresInventory&) const = default;

    bool is_shared() const { return name == "shard" || name == "mps"; }
    // Shares of one card.
    std::uint64_t per_device() const { return devices.empty() ? count : count / devices.size(); }
};

// "gpu:rtx4000:2,shard:rtx4000:128", as Gres= in scontrol show node.
std::string to_string(const std::vector<GresInventory>& inventory);

// What a job holds of one name and type on one node.
struct GresGrant {
    struct Share {
        std::uint32_t device;
        std::uint64_t amount;
        bool operator==(const Share&) const = default;
    };
    std::string name;
    std::string type;
    std::uint64_t count = 0;
    IndexSet devices;           // Whole cards.
    std::vector<Share> shares;  // Shard and mps.
    bool operator==(const GresGrant&) const = default;
};

// "gpu:rtx4000:1(IDX:0)" as in scontrol show job -d; "dongle(CNT:2)" for what has no devices.
std::string to_string(const std::vector<GresGrant>& grants);

// GRES_USED of sinfo: "gpu:rtx4000:1(IDX:0),shard:rtx4000:32(0/64,32/64)". `used` is the sum over
// jobs.
std::string format_gres_used(const std::vector<GresInventory>& inventory,
                             const std::vector<GresGrant>& used);

// Adds `more` to `sum`, entry by entry of equal name and type.
void add_grants(std::vector<GresGrant>& sum, const std::vector<GresGrant>& more);

}  // namespace switchyard::model
