// take_changes.cpp: the records that were touched, with the values they have by now.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/cluster.hpp"
#include "core/cluster/cluster_impl.hpp"

namespace switchyard::core {
namespace {

template <class Record>
std::shared_ptr<const Record> share(const Record* record) {
    return record == nullptr ? nullptr : std::make_shared<const Record>(*record);
}

template <class Map>
auto share_from(const Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return share(found == map.end() ? nullptr : &found->second);
}

}  // namespace

Changes Cluster::take_changes() {
    Changes changes = std::exchange(impl_->world_.changes, {});
    changes.jobs.fill([&](JobId id) { return jobs().copy_of(id); });
    changes.steps.fill([&](const StepKey& key) { return share_from(steps(), key); });
    changes.nodes.fill([&](const std::string& name) { return share(find_node(name)); });
    changes.triggers.fill([&](std::uint32_t id) { return share_from(triggers(), id); });
    changes.reservations.fill(
        [&](const std::string& name) { return share_from(reservations(), name); });
    changes.partitions.fill(
        [&](const std::string& name) -> std::shared_ptr<const model::PartitionRecord> {
            const auto at = std::ranges::find(partitions(), name, &model::Partition::name);
            if (at != partitions().end())
                return std::make_shared<const model::PartitionRecord>(*at, false);
            const std::vector<std::string> deleted = deleted_partitions();
            if (std::ranges::find(deleted, name) == deleted.end()) return nullptr;
            model::PartitionRecord gone{.partition = {}, .deleted = true};
            gone.partition.name = name;
            return std::make_shared<const model::PartitionRecord>(std::move(gone));
        });
    return changes;
}

}  // namespace switchyard::core
