#include "view/cluster/cluster_document.hpp"

namespace switchyard::view {

void write_tres(Document& document, const CountedTres& tres) {
    document.begin_map();
    document.text("type", tres.type);
    document.text("name", tres.name);
    document.integer("id", tres.id);
    document.integer("count", static_cast<std::int64_t>(tres.count));
    document.end();
}

void write_cluster(Document& document, const ClusterFacts& cluster) {
    document.begin_map();
    document.begin_map("controller");
    document.text("host", cluster.host);
    document.integer("port", cluster.port);
    document.end();
    document.texts("flags", cluster.shares_hosts ? std::vector<std::string>{"MULTIPLE_SLURMD"}
                                                 : std::vector<std::string>{});
    document.text("name", cluster.name);
    document.text("nodes", cluster.nodes);
    // The association of the root account, which there is not.
    document.begin_map("associations");
    document.begin_map("root");
    for (const std::string_view key : {"account", "cluster", "partition", "user"})
        document.text(key, "");
    document.integer("id", 0);
    document.end();
    document.end();
    document.integer("rpc_version", cluster.rpc_version);
    document.begin_list("tres");
    for (const CountedTres& each : cluster.tres) write_tres(document, each);
    document.end();
    document.end();
}

}  // namespace switchyard::view
