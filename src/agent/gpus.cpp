#include "agent/gpus.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "gpu/discovery.hpp"
#include "gpu/memory_limits.hpp"
#include "os/cgroup_folders.hpp"
#include "os/files.hpp"

namespace switchyard::agent {
namespace {

using model::GresInventory;

bool is_card(const GresInventory& gres) { return gres.name == "gpu"; }

bool names_files(const model::NodeConfig& node) {
    return std::ranges::any_of(
        node.gres, [](const GresInventory& gres) { return is_card(gres) && !gres.files.empty(); });
}

std::string text_of(const GresInventory& entry) {
    return model::to_string(std::vector<GresInventory>{entry});
}

std::string cards_text(const std::vector<GresInventory>& gres) {
    std::vector<GresInventory> cards;
    std::ranges::copy_if(gres, std::back_inserter(cards), is_card);
    return cards.empty() ? "no GPU" : to_string(cards);
}

// Device files that gres.conf names and the machine lacks, or that it leaves out.
std::string missing_files(const std::vector<GresInventory>& gres) {
    for (const GresInventory& entry : gres) {
        if (entry.is_shared() || entry.files.empty()) continue;
        if (entry.files.size() < entry.count) {
            return fmt::format("gres/{}: configured {} but gres.conf names {} device file{}",
                               entry.name, text_of(entry), entry.files.size(),
                               entry.files.size() == 1 ? "" : "s");
        }
        for (const std::string& files : entry.files) {
            for (const std::string_view file : split(files, ',')) {
                if (os::exists(std::string(file))) continue;
                return fmt::format("gres/{}: configured {} but found no {}", entry.name,
                                   text_of(entry), file);
            }
        }
    }
    return {};
}

// Cards that are known by their files get the names and sizes that NVML has for them.
void name_cards(std::vector<GresInventory>& gres, const std::vector<gpu::Device>& devices) {
    for (GresInventory& entry : gres) {
        if (!is_card(entry) || entry.files.empty()) continue;
        std::vector<std::string> names;
        std::vector<std::uint64_t> memory;
        for (const std::string& file : entry.files) {
            const auto device = std::ranges::find_if(devices, [&](const gpu::Device& each) {
                return join(each.files, ",") == file || each.files.back() == file;
            });
            if (device == devices.end()) return;
            names.push_back(device->uuid);
            memory.push_back(device->memory_bytes >> 20);
        }
        entry.device_names = std::move(names);
        entry.device_memory = std::move(memory);
    }
}

void index_cards(const std::vector<gpu::Device>& devices, NodeGpus& to) {
    for (const GresInventory& entry : to.gres) {
        if (!is_card(entry)) continue;
        const auto numbers = entry.devices.to_vector();
        for (std::size_t at = 0; at < numbers.size() && at < entry.device_names.size(); ++at) {
            const auto device =
                std::ranges::find(devices, entry.device_names[at], &gpu::Device::uuid);
            if (device != devices.end() && !device->is_slice)
                to.nvml_index[numbers[at]] = device->card;
        }
    }
}

// Shares are kept only of cards that are really there.
void choose_levels(NodeGpus& to, const gpu::ShareMeans& means) {
    const bool real = std::ranges::any_of(to.gres, [](const GresInventory& gres) {
        return is_card(gres) && (!gres.device_names.empty() || !gres.files.empty());
    });
    for (GresInventory& entry : to.gres) {
        if (!entry.is_shared()) continue;
        if (!real) {
            entry.protection.clear();
            continue;
        }
        const std::string wanted =
            entry.protection.empty() && entry.name == "mps" ? "mps" : entry.protection;
        const gpu::ShareChoice choice = gpu::choose_level(wanted, means);
        entry.protection = choice.level;
        if (!choice.notice.empty())
            to.notices.push_back(fmt::format("{}: {}", entry.name, choice.notice));
    }
}

}  // namespace

std::string auto_detect_of(const config::Config& config, const std::string& node) {
    auto found = config.auto_detect.find(node);
    if (found == config.auto_detect.end()) found = config.auto_detect.find("");
    return found == config.auto_detect.end() ? std::string() : found->second;
}

NodeGpus describe_gpus(const model::NodeConfig& node, const std::string& auto_detect,
                       const FoundCards& found, const std::vector<model::IndexSet>& core_cpus,
                       const gpu::ShareMeans& means) {
    NodeGpus result;
    result.gres = node.gres;
    std::vector<gpu::Device> devices;
    if (found.nvml) {
        if (const auto cards = found.nvml->cards())
            devices = gpu::find_devices(*cards, core_cpus);
        else
            result.notices.push_back(fmt::format("NVML: {}", cards.error().message));
    }
    const bool asks_for_cards = std::ranges::any_of(node.gres, is_card);
    if (auto_detect != "nvml") {
        result.problem = missing_files(result.gres);
        name_cards(result.gres, devices);
    } else if (found.nvml) {
        gpu::Match match = gpu::match_inventory(node.gres, devices);
        result.gres = std::move(match.gres);
        result.problem = std::move(match.problem);
    } else if (asks_for_cards) {
        result.problem = fmt::format("gres/gpu: configured {} but found no GPU ({})",
                                     cards_text(node.gres), found.error);
    }
    index_cards(devices, result);
    choose_levels(result, means);
    return result;
}

NodeGpus find_gpus(const config::Config& config, const model::NodeConfig& node,
                   const std::vector<model::IndexSet>& core_cpus,
                   const os::ContainmentPlan& walls) {
    const std::string auto_detect = auto_detect_of(config, node.name);
    FoundCards found;
    if (auto_detect == "nvml" || (auto_detect != "off" && names_files(node))) {
        auto nvml = gpu::Nvml::open();
        if (nvml) {
            found.nvml = *std::move(nvml);
        } else {
            found.error = nvml.error().message;
        }
    }
    gpu::ShareMeans means = gpu::find_means();
    if (found.nvml) {
        const auto cards = found.nvml->cards();
        means.dmem = cards && gpu::limits_all(*cards, os::node_path(walls));
    }
    NodeGpus gpus = describe_gpus(node, auto_detect, found, core_cpus, means);
    if (auto_detect == "nvml" && !found.nvml) gpus.notices.push_back(found.error);
    gpus.nvml = std::move(found.nvml);
    const bool keeps = std::ranges::any_of(gpus.gres, [](const GresInventory& gres) {
        return !gres.protection.empty() && gres.protection != "none";
    });
    if (keeps) gpus.share_folder = gpu::guard_folder(walls.place, config.spool_for(node.name));
    return gpus;
}

std::string gres_lines(const std::vector<GresInventory>& gres, std::uint32_t cores) {
    std::string text;
    const auto line = [&](const GresInventory& entry, std::uint64_t count, std::string_view more) {
        text += fmt::format("slurmd: Gres Name={} Type={} Count={}{}\n", entry.name,
                            entry.type.empty() ? "(null)" : entry.type, count, more);
    };
    for (const GresInventory& entry : gres) {
        const auto numbers = entry.devices.to_vector();
        if (numbers.empty()) {
            line(entry, entry.count, "");
            continue;
        }
        for (std::size_t at = 0; at < numbers.size(); ++at) {
            std::string more = fmt::format(" Index={}", numbers[at]);
            if (at < entry.files.size()) more += " File=" + entry.files[at];
            const model::IndexSet& near =
                at < entry.device_cores.size() ? entry.device_cores[at] : entry.cores;
            if (!near.empty()) more += fmt::format(" Cores={} CoreCnt={}", to_string(near), cores);
            if (at < entry.device_links.size()) {
                std::vector<std::string> links;
                for (const std::uint32_t other : numbers) {
                    links.emplace_back(other == numbers[at]                     ? "-1"
                                       : entry.device_links[at].contains(other) ? "1"
                                                                                : "0");
                }
                more += " Links=" + join(links, ",");
            }
            if (at < entry.device_names.size()) more += " UniqueId=" + entry.device_names[at];
            if (!entry.protection.empty()) more += " Protection=" + entry.protection;
            line(entry, entry.is_shared() ? entry.per_device() : 1, more);
        }
    }
    return text.empty() ? "slurmd: no generic resources\n" : text;
}

}  // namespace switchyard::agent
