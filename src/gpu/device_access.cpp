#include "gpu/device_access.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/text.hpp"

namespace switchyard::gpu {
namespace {

// A share of a card is a grant of the card as far as its file is concerned.
bool is_granted(const std::vector<model::GresGrant>& grants, const std::string& name,
                std::uint32_t device) {
    return std::ranges::any_of(grants, [&](const model::GresGrant& grant) {
        if (grant.name == name && grant.devices.contains(device)) return true;
        return name == "gpu" &&
               std::ranges::find(grant.shares, device, &model::GresGrant::Share::device) !=
                   grant.shares.end();
    });
}

}  // namespace

std::vector<std::string> denied_files(const std::vector<model::GresInventory>& node,
                                      const std::vector<model::GresGrant>& granted,
                                      const std::vector<std::string>& present) {
    std::set<std::string> denied, allowed;
    for (const model::GresInventory& entry : node) {
        if (entry.is_shared()) continue;
        const auto numbers = entry.devices.to_vector();
        for (std::size_t at = 0; at < entry.files.size() && at < numbers.size(); ++at) {
            const bool open = is_granted(granted, entry.name, numbers[at]);
            for (const std::string_view file : split(entry.files[at], ',')) {
                (open ? allowed : denied).insert(std::string(file));
            }
        }
        if (entry.name == "gpu" && !entry.files.empty()) {
            denied.insert(present.begin(), present.end());
        }
    }
    // The file of a card in MIG mode belongs to all its slices.
    for (const std::string& file : allowed) denied.erase(file);
    return {denied.begin(), denied.end()};
}

std::vector<std::string> card_files() {
    std::vector<std::string> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("nvidia") && parse_uint(name.substr(6))) {
            found.push_back(entry.path().string());
        }
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace switchyard::gpu
