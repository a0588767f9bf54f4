// gpus.hpp: what cards this node has, whether they are what was configured, and how its shares are
// kept. Found once at the start of an agent and again with a new configuration.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "gpu/nvml.hpp"
#include "gpu/shares.hpp"
#include "model/gres.hpp"
#include "model/node.hpp"
#include "os/containment.hpp"

namespace switchyard::agent {

struct NodeGpus {
    std::vector<model::GresInventory> gres;  // As reported to the controller.
    std::string problem;                     // For draining: names what was configured and found.
    std::vector<std::string> notices;        // For the log.
    // Number of each card in NVML's order, by its index on this node; empty: there is no NVML.
    std::map<std::uint32_t, std::uint32_t> nvml_index;
    std::string share_folder;         // See gpu::guard_folder; empty: no shares are kept.
    std::shared_ptr<gpu::Nvml> nvml;  // For one thread at a time; null: there is none.
};

// AutoDetect= for a node: "nvml", "off", or "" where nothing is said.
std::string auto_detect_of(const config::Config& config, const std::string& node);

// `core_cpus`: see place_cores(). `walls`: the node's; its place names the folder of shares.
NodeGpus find_gpus(const config::Config& config, const model::NodeConfig& node,
                   const std::vector<model::IndexSet>& core_cpus, const os::ContainmentPlan& walls);

// The same from what was found, for tests and for slurmd -G; `means` is what the machine offers.
struct FoundCards {
    std::shared_ptr<gpu::Nvml> nvml;
    std::string error;  // Why there is no NVML.
};
NodeGpus describe_gpus(const model::NodeConfig& node, const std::string& auto_detect,
                       const FoundCards& found, const std::vector<model::IndexSet>& core_cpus,
                       const gpu::ShareMeans& means);

// slurmd -G: one line per device.
std::string gres_lines(const std::vector<model::GresInventory>& gres, std::uint32_t cores);

}  // namespace switchyard::agent
