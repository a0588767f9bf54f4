// node_facts.cpp: see node_facts.hpp.

#include "core/cluster/nodes/node_facts.hpp"

#include <fmt/format.h>

namespace switchyard::core {
namespace {

// Which cards they are is the machine's to say; how many, the configuration's, if it says so.
void adopt_gres(model::NodeConfig& config, const model::NodeFacts& facts) {
    for (model::GresInventory& gres : config.gres) {
        for (const model::GresInventory& found : facts.gres) {
            const bool same = found.name == gres.name && found.type == gres.type;
            if (same && found.count == gres.count) gres = found;
        }
    }
}

}  // namespace

void fill_from_facts(model::NodeConfig& config, bool gres_are_configured,
                     const model::NodeFacts& facts) {
    if (config.cpus == 0 && config.sockets == 0 && config.cores_per_socket == 0) {
        config.cpus = facts.cpus;
        config.sockets = facts.sockets;
        config.cores_per_socket = facts.cores_per_socket;
        config.threads_per_core = facts.threads_per_core;
    }
    if (config.memory.value == 0) config.memory = facts.memory;
    if (gres_are_configured) {
        adopt_gres(config, facts);
    } else {
        config.gres = facts.gres;
    }
}

std::string shortfall(const model::NodeConfig& config, const model::NodeFacts& facts) {
    if (facts.cpus != 0 && facts.cpus < config.cpus) {
        return fmt::format("Low CPUs (reported:{} < configured:{})", facts.cpus, config.cpus);
    }
    if (facts.memory.value != 0 && facts.memory < config.memory) {
        return fmt::format("Low RealMemory (reported:{} < 100.00% of configured:{})",
                           facts.memory.value, config.memory.value);
    }
    if (facts.tmp_disk.value != 0 && facts.tmp_disk < config.tmp_disk) {
        return fmt::format("Low TmpDisk (reported:{} < configured:{})", facts.tmp_disk.value,
                           config.tmp_disk.value);
    }
    for (const model::GresInventory& gres : config.gres) {
        for (const model::GresInventory& found : facts.gres) {
            if (found.name == gres.name && found.type == gres.type && found.count < gres.count) {
                return fmt::format("gres/{} count reported lower than configured ({} < {})",
                                   gres.name, found.count, gres.count);
            }
        }
    }
    return {};
}

bool same_machine(const std::optional<model::NodeFacts>& known, model::NodeFacts facts) {
    if (!known) return false;
    facts.free_memory = known->free_memory;
    facts.cpu_load = known->cpu_load;
    facts.card_use = known->card_use;
    return *known == facts;
}

}  // namespace switchyard::core
