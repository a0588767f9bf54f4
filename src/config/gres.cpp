#include "config/gres.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "config/setters.hpp"
#include "model/hostlist.hpp"
#include "model/size_format.hpp"

namespace switchyard::config {
namespace {

using model::GresInventory;
using model::IndexSet;

// A device or count line of gres.conf.
struct Device {
    std::string name, type, where;
    std::optional<std::uint64_t> count;
    std::vector<std::string> files;
    IndexSet cores;
    IndexSet links;          // Links=: numbers of the cards it is connected to.
    std::string protection;  // Of shares, by Flags=.
    bool names_nodes = false;
};

// "gpu:a100:4(S:0-1)" of a node line.
struct Term {
    std::string name, type;
    std::uint64_t count = 1;
};

bool is_shared(std::string_view name) { return name == "shard" || name == "mps"; }

std::string_view without_parentheses(std::string_view text) {
    return text.substr(0, text.find('('));
}

std::optional<Term> parse_term(std::string_view text) {
    std::vector<std::string_view> words = split(without_parentheses(trim(text)), ':');
    std::erase_if(words, [](std::string_view w) { return equals_ignoring_case(w, "no_consume"); });
    if (words.empty() || words.size() > 3 || words.front().empty()) return std::nullopt;
    Term term;
    term.name = std::string(words.front());
    if (words.size() == 1) return term;
    // The last word is the count, unless it is the type: "gpu:a100" is one a100.
    const auto count = model::parse_count(words.back());
    if (count) {
        term.count = *count;
        if (words.size() == 3) term.type = std::string(words[1]);
        return term;
    }
    if (words.size() == 3) return std::nullopt;
    term.type = std::string(words[1]);
    return term;
}

// Commas inside parentheses do not separate.
std::vector<std::string_view> split_terms(std::string_view text) {
    std::vector<std::string_view> out;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == ',' && depth == 0)) {
            if (i > begin) out.push_back(text.substr(begin, i - begin));
            begin = i + 1;
        } else if (text[i] == '(') {
            ++depth;
        } else if (text[i] == ')') {
            --depth;
        }
    }
    return out;
}

// "-1,16,16,0": by card, how many links lead there; -1 stands for itself.
Result<IndexSet> parse_links(std::string_view text) {
    IndexSet links;
    std::uint32_t card = 0;
    for (const std::string_view piece : split(text, ',')) {
        const auto count = parse_int(trim(piece));
        if (!count) return fail(Errc::InvalidArgument, fmt::format("\"{}\" is no number", piece));
        if (*count > 0) links.insert(card);
        ++card;
    }
    return links;
}

// How shares of a card are kept is Switchyard's own; Slurm's flags for the environment of vendors
// do no harm, since all their variables are set.
Status set_flags(Device& device, std::string_view text) {
    for (const std::string_view piece : split(text, ',')) {
        const std::string flag = to_lower(trim(piece));
        if (flag == "guard" || flag == "mps" || flag == "dmem") {
            device.protection = flag + (device.protection == "strict" ? "+strict" : "");
        } else if (flag == "unprotected") {
            device.protection = "none";
        } else if (flag == "strict") {
            device.protection += device.protection.empty() ? "strict" : "+strict";
        } else if (flag != "countonly" && !flag.ends_with("_env") && flag != "explicit") {
            return fail(Errc::InvalidArgument, fmt::format("\"{}\" is not supported", piece));
        }
    }
    return {};
}

Status set_device_key(Device& device, const Pair& pair) {
    if (equals_ignoring_case(pair.key, "Name")) {
        device.name = pair.value;
    } else if (equals_ignoring_case(pair.key, "Type")) {
        device.type = pair.value;
    } else if (equals_ignoring_case(pair.key, "Count")) {
        SY_TRY(device.count, model::parse_count(pair.value));
    } else if (equals_ignoring_case(pair.key, "File")) {
        SY_TRY(device.files, model::expand_hostlist(pair.value));
    } else if (equals_ignoring_case(pair.key, "MultipleFiles")) {
        // One device that has several files: a slice of a card and its capabilities.
        SY_TRY(const auto files, model::expand_hostlist(pair.value));
        device.files = {join(files, ",")};
    } else if (equals_ignoring_case(pair.key, "Cores") || equals_ignoring_case(pair.key, "CPUs")) {
        SY_TRY(device.cores, model::parse_index_set(pair.value));
    } else if (equals_ignoring_case(pair.key, "Links")) {
        SY_TRY(device.links, parse_links(pair.value));
    } else if (equals_ignoring_case(pair.key, "Flags")) {
        SY_CHECK(set_flags(device, pair.value));
    }
    return {};
}

bool is_device_key(std::string_view key) {
    for (const std::string_view known :
         {"Name", "Type", "Count", "File", "MultipleFiles", "Cores", "CPUs", "Links", "Flags"}) {
        if (equals_ignoring_case(key, known)) return true;
    }
    return false;
}

void note_other_key(const Pair& pair, const std::string& where, Findings& findings) {
    const std::string once = "gres.conf:" + to_lower(pair.key);
    if (equals_ignoring_case(pair.key, "AutoDetect")) {
        for (const std::string_view known : {"off", "nvml", "nvidia"}) {
            if (equals_ignoring_case(pair.value, known)) return;
        }
        findings.notice_once(once, where,
                             fmt::format("AutoDetect={} is not supported: only nvml", pair.value));
    } else {
        findings.notice_once(once, where, unknown_key_text(pair.key, "gres.conf"));
    }
}

// One line as a device, with the nodes it is for (empty: every node).
std::optional<Device> read_device(const Line& line, const std::string& where,
                                  std::vector<std::string>& nodes, Findings& findings) {
    Device device;
    device.where = where;
    for (const Pair& pair : line.pairs) {
        Status status;
        if (equals_ignoring_case(pair.key, "NodeName")) {
            device.names_nodes = true;
            auto names = model::expand_hostlist(pair.value);
            if (names) {
                nodes = *std::move(names);
            } else {
                findings.error(where, fmt::format("NodeName: {}", names.error().message));
            }
            continue;
        }
        if (!is_device_key(pair.key)) {
            note_other_key(pair, where, findings);
            continue;
        }
        if (status = set_device_key(device, pair); !status) {
            if (equals_ignoring_case(pair.key, "Flags")) {
                findings.notice_once("gres.conf:flags", where,
                                     fmt::format("Flags: {}", status.error().message));
                continue;
            }
            findings.error(where, fmt::format("{}: {}", pair.key, status.error().message));
            return std::nullopt;
        }
    }
    if (device.name.empty()) {
        if (line.find("AutoDetect") == nullptr)
            findings.error(where, "a line of gres.conf needs Name=");
        return std::nullopt;
    }
    if (!device.files.empty() && device.count && !is_shared(device.name) &&
        *device.count != device.files.size()) {
        findings.error(where, fmt::format("Count={} does not agree with {} device files",
                                          *device.count, device.files.size()));
        return std::nullopt;
    }
    return device;
}

using DevicesByNode = std::map<std::string, std::vector<const Device*>>;

std::uint64_t count_of(const Device& device) {
    if (device.count) return *device.count;
    return device.files.empty() ? 1 : device.files.size();
}

// The whole cards (or counted things) of one term of Gres=.
class NodeGres {
  public:
    NodeGres(NodeEntry& node, std::vector<const Device*> devices, Findings& findings)
        : node_(node),
          devices_(std::move(devices)),
          used_(devices_.size(), 0),
          findings_(findings) {}

    void settle() {
        std::vector<Term> shared;
        for (const std::string_view text : split_terms(node_.gres)) {
            if (text == "(null)" || equals_ignoring_case(text, "none")) continue;
            const auto term = parse_term(text);
            if (!term) {
                findings_.error(node_.where,
                                fmt::format("Gres={}: cannot read \"{}\"", node_.gres, text));
                return;
            }
            if (term->count == 0) continue;
            if (is_shared(term->name)) {
                shared.push_back(*term);
            } else {
                add_whole(*term);
            }
        }
        for (const Term& term : shared) add_shared(term);
        for (GresInventory& each : node_.config.gres) forget_if_alike(each);
        note_unused();
    }

  private:
    GresInventory& entry(const std::string& name, const std::string& type) {
        auto& all = node_.config.gres;
        for (GresInventory& one : all) {
            if (one.name == name && one.type == type) return one;
        }
        all.push_back({});
        all.back().name = name;
        all.back().type = type;
        return all.back();
    }

    // Adds `count` things; a gpu always has an index, other things only where there are files.
    void add(const Term& term, const std::string& type, std::uint64_t count, const Device* device,
             std::uint64_t first_file) {
        GresInventory& into = entry(term.name, type);
        into.count += count;
        const bool has_files = device != nullptr && !device->files.empty();
        if (has_files || term.name == "gpu") {
            std::uint32_t& next = next_index_[term.name];
            into.devices.insert(
                IndexSet::Interval{next, next + static_cast<std::uint32_t>(count) - 1});
            next += static_cast<std::uint32_t>(count);
        }
        if (has_files) {
            for (std::uint64_t i = 0; i < count; ++i)
                into.files.push_back(device->files[first_file + i]);
        }
        if (device != nullptr) into.cores.insert(device->cores);
        for (std::uint64_t i = 0; i < count && !into.devices.empty(); ++i) {
            into.device_cores.push_back(device == nullptr ? IndexSet() : device->cores);
            into.device_links.push_back(device == nullptr ? IndexSet() : device->links);
        }
    }

    // What is the same for all cards need not be said of each.
    static void forget_if_alike(GresInventory& entry) {
        const auto alike = [](const std::vector<IndexSet>& sets) {
            return std::ranges::all_of(sets, [&](const IndexSet& set) { return set == sets[0]; });
        };
        const auto nothing = [](const IndexSet& set) { return set.empty(); };
        if (std::ranges::any_of(entry.device_cores, nothing)) entry.cores = {};
        if (alike(entry.device_cores)) entry.device_cores.clear();
        if (std::ranges::all_of(entry.device_links, nothing)) entry.device_links.clear();
    }

    void add_whole(const Term& term) {
        std::uint64_t left = term.count;
        for (std::size_t i = 0; i < devices_.size() && left > 0; ++i) {
            const Device& device = *devices_[i];
            const bool fits =
                device.name == term.name &&
                (term.type.empty() || device.type.empty() || device.type == term.type);
            if (!fits || used_[i] == count_of(device)) continue;
            const std::uint64_t take = std::min(left, count_of(device) - used_[i]);
            add(term, term.type.empty() ? device.type : term.type, take, &device, used_[i]);
            used_[i] += take;
            left -= take;
        }
        if (left == 0) return;
        if (left < term.count) {
            findings_.notice(
                node_.where,
                fmt::format("node {} has {} {} by Gres= but {} in gres.conf; the rest "
                            "is counted without device files",
                            node_.config.name, term.count, term.name, term.count - left));
        }
        add(term, term.type, left, nullptr, 0);
    }

    void add_shared(const Term& term) {
        GresInventory& into = entry(term.name, term.type);
        into.count += term.count;
        for (const GresInventory& cards : node_.config.gres) {
            const bool fits = cards.name == "gpu" && (term.type.empty() || cards.type == term.type);
            if (fits) into.devices.insert(cards.devices);
        }
        if (into.devices.empty()) {
            for (const GresInventory& cards : node_.config.gres) {
                if (cards.name == "gpu") into.devices.insert(cards.devices);
            }
        }
        mark_shared_lines(term, into);
        if (into.devices.empty()) {
            findings_.notice(
                node_.where,
                fmt::format("node {} has {} but no gpu to share; they are only counted",
                            node_.config.name, term.name));
            return;
        }
        const std::uint64_t cards = into.devices.size();
        if (into.count % cards != 0) {
            const std::uint64_t even = into.count / cards * cards;
            findings_.notice(
                node_.where,
                fmt::format("node {}: {} {} do not spread evenly over {} cards; {} are used",
                            node_.config.name, into.count, term.name, cards, even));
            into.count = even;
        }
        if (into.count == 0)
            findings_.error(node_.where, fmt::format("fewer {} than cards", term.name));
    }

    // Lines of gres.conf for shares name the cards by their files; unequal shares cannot be kept.
    void mark_shared_lines(const Term& term, GresInventory& into) {
        for (std::size_t i = 0; i < devices_.size(); ++i) {
            const Device& device = *devices_[i];
            if (device.name != term.name) continue;
            used_[i] = count_of(device);
            if (!device.protection.empty()) into.protection = device.protection;
            if (device.files.empty() || !device.count || into.devices.empty()) continue;
            if (*device.count * into.devices.size() != into.count * device.files.size()) {
                findings_.notice_once(
                    "uneven:" + device.where, device.where,
                    fmt::format("{} are spread evenly over the cards of a node", term.name));
            }
        }
    }

    void note_unused() {
        for (std::size_t i = 0; i < devices_.size(); ++i) {
            if (!devices_[i]->names_nodes || used_[i] == count_of(*devices_[i])) continue;
            findings_.notice_once(
                "unused:" + devices_[i]->where, devices_[i]->where,
                fmt::format("{} of this line are not in Gres= of node {} and are not used",
                            devices_[i]->name, node_.config.name));
        }
    }

    NodeEntry& node_;
    std::vector<const Device*> devices_;
    std::vector<std::uint64_t> used_;
    std::map<std::string, std::uint32_t> next_index_;
    Findings& findings_;
};

}  // namespace

std::map<std::string, std::string> find_auto_detect(const Lines& gres_conf) {
    std::map<std::string, std::string> found;
    for (const Line& line : gres_conf.lines) {
        const std::string* kind = line.find("AutoDetect");
        if (kind == nullptr) continue;
        const std::string* names = line.find("NodeName");
        const auto nodes = model::expand_hostlist(names == nullptr ? "" : *names);
        // Both find NVIDIA's cards; we ask NVML for either.
        const std::string word = equals_ignoring_case(*kind, "nvidia") ? "nvml" : to_lower(*kind);
        if (names == nullptr) found[""] = word;
        if (names == nullptr || !nodes) continue;
        for (const std::string& node : *nodes) found[node] = word;
    }
    return found;
}

void settle_gres(std::vector<NodeEntry>& nodes, const Lines& gres_conf, Findings& findings) {
    std::vector<std::pair<Device, std::vector<std::string>>> lines;
    for (const Line& line : gres_conf.lines) {
        std::vector<std::string> names;
        auto device = read_device(line, gres_conf.where(line), names, findings);
        if (device) lines.emplace_back(*std::move(device), std::move(names));
    }
    DevicesByNode by_node;
    std::vector<const Device*> for_all;
    for (const auto& [device, names] : lines) {
        if (!device.names_nodes) for_all.push_back(&device);
        for (const std::string& name : names) by_node[name].push_back(&device);
    }
    for (NodeEntry& node : nodes) {
        std::vector<const Device*> devices = by_node[node.config.name];
        devices.insert(devices.end(), for_all.begin(), for_all.end());
        NodeGres(node, std::move(devices), findings).settle();
    }
}

}  // namespace switchyard::config
