#include "gpu/discovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "base/text.hpp"

namespace switchyard::gpu {
namespace {

using model::GresInventory;
using model::IndexSet;

std::string card_file(std::uint32_t minor) { return fmt::format("/dev/nvidia{}", minor); }

IndexSet cores_near(const IndexSet& cpus, const std::vector<IndexSet>& core_cpus) {
    IndexSet cores;
    for (std::uint32_t core = 0; core < core_cpus.size(); ++core) {
        if (core_cpus[core].intersects(cpus)) cores.insert(core);
    }
    // Near to all is near to none in particular.
    return cores.size() == core_cpus.size() ? IndexSet() : cores;
}

std::vector<std::string> slice_files(const Card& card, const MigSlice& slice,
                                     CapabilityMinor capability) {
    std::vector<std::string> files{card_file(card.minor_number)};
    const std::string instance =
        fmt::format("gpu{}/mig/gi{}", card.minor_number, slice.gpu_instance);
    for (const std::string& name :
         {instance + "/access", fmt::format("{}/ci{}/access", instance, slice.compute_instance)}) {
        if (const auto minor = capability(name)) {
            files.push_back(fmt::format("/dev/nvidia-caps/nvidia-cap{}", *minor));
        }
    }
    return files;
}

// The links of cards become links of the devices that are whole cards.
void translate_links(const std::vector<Card>& cards, std::vector<Device>& devices) {
    for (Device& device : devices) {
        const auto card = std::ranges::find(cards, device.card, &Card::index);
        if (card == cards.end() || device.is_slice) continue;
        for (std::uint32_t at = 0; at < devices.size(); ++at) {
            if (!devices[at].is_slice && card->links.contains(devices[at].card)) {
                device.links.insert(at);
            }
        }
    }
}

// Copies what `devices[at]` is into the next place of an entry.
void append(GresInventory& entry, const Device& device, std::uint32_t at) {
    entry.devices.insert(at);
    entry.files.push_back(join(device.files, ","));
    entry.device_names.push_back(device.uuid);
    entry.device_memory.push_back(device.memory_bytes >> 20);
    entry.cores.insert(device.cores);
    entry.device_cores.push_back(device.cores);
    entry.device_links.push_back(device.links);
}

// Per-device lists say nothing if they are all alike.
void simplify(GresInventory& entry) {
    const auto same = [&](const std::vector<IndexSet>& sets) {
        return std::ranges::all_of(sets, [&](const IndexSet& set) { return set == sets.front(); });
    };
    const auto any_core = [](const IndexSet& set) { return set.empty(); };
    if (std::ranges::any_of(entry.device_cores, any_core)) entry.cores = {};
    if (!entry.device_cores.empty() && same(entry.device_cores)) entry.device_cores.clear();
    if (std::ranges::all_of(entry.device_links, any_core)) entry.device_links.clear();
}

std::string count_by_type(const std::vector<Device>& devices) {
    const std::string text = to_string(inventory_of(devices));
    return text.empty() ? "no GPU" : text;
}

std::string whole_cards_text(const std::vector<GresInventory>& configured) {
    std::vector<GresInventory> cards;
    std::ranges::copy_if(configured, std::back_inserter(cards),
                         [](const GresInventory& entry) { return entry.name == "gpu"; });
    return to_string(cards);
}

// A slice is named by one of its capability files, a card by its own.
bool is_named(std::string_view text, const Device& device) {
    const auto names = split(text, ',');
    return std::ranges::find(names, device.files.back()) != names.end();
}

// The devices that an entry stands for: those of its files, in their order, if it names any; else
// the first of its type.
std::vector<std::uint32_t> candidates(const GresInventory& entry,
                                      const std::vector<Device>& devices,
                                      const std::set<std::uint32_t>& taken) {
    std::vector<std::uint32_t> found;
    const auto fits = [&](std::uint32_t at) {
        return !taken.contains(at) && std::ranges::find(found, at) == found.end() &&
               type_matches(entry.type, devices[at].type);
    };
    for (const std::string& file : entry.files) {
        for (std::uint32_t at = 0; at < devices.size(); ++at) {
            if (fits(at) && is_named(file, devices[at])) found.push_back(at);
        }
    }
    for (std::uint32_t at = 0; entry.files.empty() && at < devices.size(); ++at) {
        if (fits(at) && found.size() < entry.count) found.push_back(at);
    }
    return found;
}

// The numbers a configured entry gives its cards; without any, their positions.
std::vector<std::uint32_t> numbers_of(const GresInventory& entry,
                                      const std::vector<std::uint32_t>& cards) {
    const std::vector<std::uint32_t> own = entry.devices.to_vector();
    return own.size() == cards.size() ? own : cards;
}

IndexSet renumber(const IndexSet& positions,
                  const std::map<std::uint32_t, std::uint32_t>& numbers) {
    IndexSet out;
    for (const std::uint32_t at : positions.to_vector()) {
        if (const auto it = numbers.find(at); it != numbers.end()) out.insert(it->second);
    }
    return out;
}

}  // namespace

std::string type_name(std::string_view card_name) {
    std::string type(card_name);
    std::ranges::replace(type, ' ', '_');
    return type;
}

bool type_matches(std::string_view configured, std::string_view found) {
    return to_lower(found).contains(to_lower(configured));
}

std::optional<std::uint32_t> capability_minor(const std::string& capability) {
    std::ifstream file("/proc/driver/nvidia/capabilities/" + capability);
    for (std::string line; std::getline(file, line);) {
        const std::string_view text(line);
        constexpr std::string_view kKey = "DeviceFileMinor:";
        if (!text.starts_with(kKey)) continue;
        if (const auto minor = parse_uint(trim(text.substr(kKey.size())))) {
            return static_cast<std::uint32_t>(*minor);
        }
    }
    return std::nullopt;
}

std::vector<Device> find_devices(const std::vector<Card>& cards,
                                 const std::vector<IndexSet>& core_cpus,
                                 CapabilityMinor capability) {
    std::vector<Card> ordered = cards;
    std::ranges::sort(ordered, {}, &Card::minor_number);
    std::vector<Device> devices;
    for (const Card& card : ordered) {
        Device whole;
        whole.type = type_name(card.name);
        whole.files = {card_file(card.minor_number)};
        whole.cores = cores_near(card.cpus, core_cpus);
        whole.memory_bytes = card.memory_bytes;
        whole.card = card.index;
        whole.uuid = card.uuid;
        if (!card.mig) devices.push_back(whole);
        for (const MigSlice& slice : card.slices) {
            Device part = whole;
            part.type += "_" + slice.profile;
            part.files = slice_files(card, slice, capability);
            part.memory_bytes = slice.memory_bytes;
            part.uuid = slice.uuid;
            part.is_slice = true;
            devices.push_back(std::move(part));
        }
    }
    translate_links(cards, devices);
    return devices;
}

std::vector<GresInventory> inventory_of(const std::vector<Device>& devices) {
    std::vector<GresInventory> entries;
    for (std::uint32_t at = 0; at < devices.size(); ++at) {
        auto entry = std::ranges::find(entries, devices[at].type, &GresInventory::type);
        if (entry == entries.end()) {
            GresInventory fresh;
            fresh.name = "gpu";
            fresh.type = devices[at].type;
            entry = entries.insert(entries.end(), std::move(fresh));
        }
        ++entry->count;
        append(*entry, devices[at], at);
    }
    for (GresInventory& entry : entries) simplify(entry);
    return entries;
}

Match match_inventory(const std::vector<GresInventory>& configured,
                      const std::vector<Device>& devices) {
    Match match;
    if (configured.empty()) {
        match.gres = inventory_of(devices);
        return match;
    }
    std::set<std::uint32_t> taken;
    std::map<std::uint32_t, std::uint32_t> numbers;  // Of the configuration, by position.
    for (const GresInventory& wanted : configured) {
        match.gres.push_back(wanted);
        if (wanted.name != "gpu") continue;
        const auto cards = candidates(wanted, devices, taken);
        if (cards.size() != wanted.count) {
            match.problem = fmt::format("gres/gpu: configured {} but found {}",
                                        whole_cards_text(configured), count_by_type(devices));
            continue;
        }
        taken.insert(cards.begin(), cards.end());
        GresInventory& entry = match.gres.back();
        const auto own = numbers_of(wanted, cards);
        entry.devices = {};
        entry.files.clear();
        entry.device_names.clear();
        entry.device_memory.clear();
        entry.device_links.clear();
        // Cores of gres.conf are the administrator's word, and stand.
        const std::vector<IndexSet> told = entry.device_cores;
        const IndexSet told_cores = entry.cores;
        for (std::size_t i = 0; i < cards.size(); ++i) {
            append(entry, devices[cards[i]], own[i]);
            numbers[cards[i]] = own[i];
        }
        const bool is_told = !told.empty() || !told_cores.empty();
        if (is_told) entry.device_cores = told;
        if (is_told) entry.cores = told_cores;
    }
    for (GresInventory& entry : match.gres) {
        if (entry.name != "gpu" || entry.device_names.empty()) continue;
        for (IndexSet& links : entry.device_links) links = renumber(links, numbers);
        simplify(entry);
    }
    return match;
}

}  // namespace switchyard::gpu
