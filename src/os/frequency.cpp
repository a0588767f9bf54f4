#include "os/frequency.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "base/text.hpp"
#include "os/files.hpp"

namespace switchyard::os {
namespace {

// "2400.123" as kHz.
std::optional<std::uint64_t> from_megahertz(std::string_view text) {
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || value <= 0) return std::nullopt;
    return static_cast<std::uint64_t>(value * 1000 + 0.5);
}

}  // namespace

std::optional<std::uint64_t> Frequencies::of_cpu(std::uint32_t cpu) {
    const auto [at, fresh] = seen_.try_emplace(cpu);
    if (fresh) at->second = read(cpu);
    return at->second;
}

std::optional<std::uint64_t> Frequencies::read(std::uint32_t cpu) {
    const auto text = read_file(
        fmt::format("{}/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", root_, cpu));
    const auto governed = text ? parse_uint(trim(*text)) : std::nullopt;
    if (governed && *governed > 0) return governed;
    if (!cpuinfo_) read_cpuinfo();
    const auto found = cpuinfo_->find(cpu);
    return found == cpuinfo_->end() ? std::nullopt : std::optional(found->second);
}

// Blocks of lines "name : value", one for each processor: "processor" opens it.
void Frequencies::read_cpuinfo() {
    cpuinfo_.emplace();
    const auto text = read_file(root_ + "/proc/cpuinfo");
    if (!text) return;
    std::optional<std::uint64_t> cpu;
    for (const std::string_view line : split(*text, '\n')) {
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        const std::string_view name = trim(line.substr(0, colon));
        const std::string_view value = trim(line.substr(colon + 1));
        if (name == "processor") cpu = parse_uint(value);
        if (name != "cpu MHz" || !cpu) continue;
        if (const auto khz = from_megahertz(value))
            cpuinfo_->emplace(static_cast<std::uint32_t>(*cpu), *khz);
    }
}

}  // namespace switchyard::os
