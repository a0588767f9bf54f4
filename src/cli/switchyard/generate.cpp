#include "cli/switchyard/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "model/gres.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kShapeMark = "# shape:";

std::string gres_types(const std::vector<model::GresRequest>& gres) {
    std::vector<std::string> names;
    for (const auto& one : gres) {
        if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
    }
    return join(names, ",");
}

std::string device_range(std::uint32_t first, std::uint32_t count) {
    if (count == 1) return fmt::format("/dev/nvidia{}", first);
    return fmt::format("/dev/nvidia[{}-{}]", first, first + count - 1);
}

// The agent asks the driver what the cards are. Of several pretend nodes each has cards of its own.
std::string gres_conf(std::uint32_t nodes, std::uint32_t cards_each) {
    std::string text =
        "# The cards of this machine. Written by \"switchyard up\".\nAutoDetect=nvml\n";
    for (std::uint32_t i = 0; i < nodes; ++i) {
        text += fmt::format("NodeName=n{} Name=gpu File={}\n", i + 1,
                            device_range(i * cards_each, cards_each));
    }
    return text;
}

}  // namespace

std::string shape_line(const Wishes& wishes) {
    return fmt::format("{} nodes={} cpus={} memory={} gres={}", kShapeMark,
                       wishes.nodes.value_or(0), wishes.cpus.value_or(0),
                       wishes.memory.value_or("-"), wishes.gres.value_or("-"));
}

std::string find_shape_line(const std::string& slurm_conf) {
    for (const std::string_view line : split(slurm_conf, '\n')) {
        if (line.starts_with(kShapeMark)) return std::string(line);
    }
    return {};
}

Result<Files> generate(const Place& place, const Wishes& wishes, const Machine& machine,
                       std::uint16_t port) {
    const std::uint32_t count = wishes.nodes.value_or(1);
    const bool pretend = wishes.nodes.has_value();
    const std::uint32_t cpus = wishes.cpus.value_or(machine.cpus);
    const std::uint64_t memory =
        wishes.memory ? parse_uint(*wishes.memory).value_or(0) : machine.memory.value / count;
    const std::uint32_t cards_each = wishes.gres ? 0 : machine.gpus / count;

    std::string gres = wishes.gres.value_or("");
    if (cards_each > 0 && pretend) gres = fmt::format("gpu:{}", cards_each);
    const auto wanted = model::parse_gres(gres);
    if (!wanted)
        return fail(wanted.error().code,
                    fmt::format("--gres={}: {}", gres, wanted.error().message));

    Files files;
    std::string& text = files.slurm_conf;
    text = fmt::format(
        "# A cluster on one machine, made by \"switchyard up\". Edit it freely: up uses it as it "
        "is\n"
        "# unless told to make another shape of cluster.\n"
        "{}\n\n"
        "ClusterName={}\n"
        "SlurmctldHost={}\n"
        "SlurmctldPort={}\n"
        "SlurmUser={}\n"
        "StateSaveLocation={}/state\n"
        "SlurmdSpoolDir={}/spool/%n\n"
        "SwitchyardRunDir={}\n"
        "SlurmctldLogFile={}/log/slurmctld.log\n"
        "SlurmdLogFile={}/log/slurmd-%n.log\n"
        "ReturnToService=2\n"
        "SelectType=select/cons_tres\n"
        "SelectTypeParameters=CR_Core_Memory\n"
        "# A job that asks for no memory gets its cores' share, so that jobs run side by side.\n"
        "DefMemPerCPU={}\n",
        shape_line(wishes), place.name, machine.host, port, machine.user, place.folder,
        place.folder, place.run_dir, place.folder, place.folder,
        std::max<std::uint64_t>(1, memory / std::max(1u, cpus)));
    const bool has_cards = machine.gpus > 0 && (cards_each > 0 || !pretend);
    if (!wanted->empty()) {
        text += fmt::format("GresTypes={}\n", gres_types(*wanted));
    } else if (has_cards) {
        text += "GresTypes=gpu\n";
    }

    std::string node =
        pretend ? fmt::format("NodeName={} NodeHostname={}",
                              count == 1 ? "n1" : fmt::format("n[1-{}]", count), machine.host)
                : fmt::format("NodeName={}", machine.host);
    // A real node's counts are left out: its agent finds them. A pretend one's are a decision.
    if (pretend || wishes.cpus) node += fmt::format(" CPUs={}", cpus);
    if (pretend || wishes.memory) node += fmt::format(" RealMemory={}", memory);
    if (!gres.empty()) node += fmt::format(" Gres={}", gres);
    text += fmt::format(
        "\n{}\nPartitionName=debug Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n", node);
    if (has_cards) files.gres_conf = gres_conf(pretend ? count : 0, cards_each);
    return files;
}

}  // namespace switchyard::cli
