// node_facts.hpp: the size of a node: what its NodeName line says, and where that says nothing,
// what its agent found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/node.hpp"
#include "model/partition.hpp"

namespace switchyard::view {

struct NodeSize {
    std::uint32_t cpus = 0, sockets = 1, cores_per_socket = 1, threads_per_core = 1;
    model::MiB memory, tmp_disk;
};
NodeSize size_of(const model::Node& node);

const std::vector<model::GresInventory>& gres_of(const model::Node& node);
// How the node keeps jobs to their shares of a card: "shard:guard"; empty: it has none.
std::string protection_of(const model::Node& node);
std::string host_name_of(const model::Node& node);
// When something last ran on it; of one that was never used, since when it waits for that.
std::optional<Instant> last_busy(const model::Node& node);
std::string address_of(const model::Node& node);

// The inventory as if all of it were granted, for the sums of TRES texts.
std::vector<model::GresGrant> as_grants(const std::vector<model::GresInventory>& inventory);

// Sums over the nodes of a partition, those of them that are known.
struct PartitionTotals {
    std::uint64_t cpus = 0, nodes = 0;
    model::MiB memory;
    std::vector<model::GresGrant> gres;
};
// "NO", "EXCLUSIVE", "YES:4", "FORCE:2"
std::string over_subscribe_text(const model::Partition& partition);
PartitionTotals totals_of(const model::Partition& partition, const std::vector<model::Node>& nodes);

}  // namespace switchyard::view
