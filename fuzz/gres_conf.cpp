// gres_conf.cpp: a gres.conf beside a slurm.conf with cards, shares and counted things.
#include "config/config.hpp"
#include "fuzz/config_folder.hpp"

namespace switchyard {
namespace {

constexpr std::string_view kSlurmConf =
    "ClusterName=fuzz\n"
    "SlurmctldHost=localhost\n"
    "GresTypes=gpu,shard,mps,dongle\n"
    "NodeName=n[1-3] CPUs=8 Gres=gpu:a100:2,shard:8\n"
    "NodeName=m[1-2] CPUs=4 Gres=gpu:4,mps:400,dongle:3\n"
    "PartitionName=all Nodes=ALL Default=YES\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const fuzz::ConfigFolder folder;
    static const std::string slurm_conf = folder.write("slurm.conf", kSlurmConf);
    const std::string_view text = fuzz::as_text(data, size);
    if (fuzz::includes_elsewhere(text)) return 0;
    folder.write("gres.conf", text);
    (void)config::load_config(slurm_conf);
    return 0;
}

}  // namespace switchyard
