#include "view/amount_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/text.hpp"
#include "model/size_format.hpp"

namespace switchyard::view {
namespace {

constexpr std::uint64_t kFactor = 1024;
constexpr std::string_view kMemory = "mem=";
constexpr std::string_view kMemoryUnits = "MGTP";

}  // namespace

std::string short_amount(std::uint64_t count, std::string_view units) {
    std::size_t unit = 0;
    bool half = false;
    while (!half && count >= kFactor && count % (kFactor / 2) == 0 && unit + 1 < units.size()) {
        half = count % kFactor != 0;
        count /= kFactor;
        ++unit;
    }
    std::string text = half ? fmt::format("{}.50", count) : fmt::to_string(count);
    if (units[unit] != '\0') text += units[unit];
    return text;
}

std::string shown_tres(std::string_view tres) {
    std::vector<std::string> parts;
    for (const std::string_view part : split(tres, ',')) {
        const bool memory = part.starts_with(kMemory);
        const auto amount =
            model::parse_memory(memory ? part.substr(kMemory.size()) : std::string_view("0"));
        parts.push_back(memory && amount
                            ? std::string(kMemory) + short_amount(amount->value, kMemoryUnits)
                            : std::string(part));
    }
    return join(parts, ",");
}

}  // namespace switchyard::view
