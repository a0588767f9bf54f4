#include "view/cluster/cluster_tres.hpp"

#include <map>

namespace switchyard::view {
namespace {

constexpr std::uint32_t kFirstGres = 1001;

}  // namespace

std::vector<CountedTres> count_tres(const std::vector<model::Node>& nodes) {
    std::uint64_t cpus = 0, memory = 0;
    std::map<std::string, std::uint64_t> gres;
    for (const model::Node& node : nodes) {
        cpus += node.config.cpus;
        memory += node.config.memory.value;
        for (const model::GresInventory& each : node.config.gres) {
            gres[each.name] += each.count;
            if (!each.type.empty()) gres[each.name + ":" + each.type] += each.count;
        }
    }
    std::vector<CountedTres> list = {
        {.type = "cpu", .name = "", .id = 1, .count = cpus},
        {.type = "mem", .name = "", .id = 2, .count = memory},
        {.type = "energy", .name = "", .id = 3},
        {.type = "node", .name = "", .id = 4, .count = nodes.size()},
        {.type = "billing", .name = "", .id = 5, .count = cpus},
        {.type = "fs", .name = "disk", .id = 6},
        {.type = "vmem", .name = "", .id = 7},
        {.type = "pages", .name = "", .id = 8},
    };
    std::uint32_t id = kFirstGres;
    for (const auto& [name, count] : gres)
        list.push_back({.type = "gres", .name = name, .id = id++, .count = count});
    return list;
}

}  // namespace switchyard::view
