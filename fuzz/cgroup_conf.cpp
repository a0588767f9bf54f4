// cgroup_conf.cpp: a cgroup.conf beside a small slurm.conf.
#include "config/config.hpp"
#include "fuzz/config_folder.hpp"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ConfigFolder folder;
    static const std::string slurm_conf =
        folder.write("slurm.conf",
                     "ClusterName=fuzz\nSlurmctldHost=localhost\nNodeName=n1 CPUs=2\n"
                     "PartitionName=all Nodes=ALL\n");
    const std::string_view text = fuzz::as_text(data, size);
    if (fuzz::includes_elsewhere(text)) return 0;
    folder.write("cgroup.conf", text);
    (void)config::load_config(slurm_conf);
    return 0;
}

}  // namespace switchyard
