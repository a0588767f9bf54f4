#include "cli/submission/variables.hpp"

#include <fmt/format.h>

#include <cctype>

namespace switchyard::cli {

void Variables::set(std::string_view name, std::string_view value) {
    options::set_variable(environment_, std::string(name) + tail_, value);
}

void Variables::set_if(std::string_view name, const std::string& value) {
    if (!value.empty()) set(name, value);
}

void Variables::set_if(std::string_view name, const std::optional<std::uint32_t>& value) {
    if (value) set(name, fmt::to_string(*value));
}

bool Variables::has(std::string_view name) const {
    return !options::get_variable(environment_, std::string(name) + tail_).empty();
}

void set_memory(Variables& out, const model::MemoryRequest& memory) {
    using Per = model::MemoryRequest::Per;
    const std::string amount = fmt::to_string(memory.amount.value);
    if (memory.per == Per::Node) out.set("SLURM_MEM_PER_NODE", amount);
    if (memory.per == Per::Cpu) out.set("SLURM_MEM_PER_CPU", amount);
    if (memory.per == Per::Gpu) out.set("SLURM_MEM_PER_GPU", amount);
}

void set_frequency(Variables& out, const options::JobRequest& request) {
    const auto given = request.shown.find("cpu-freq");
    if (given == request.shown.end()) return;
    // "high" is told as "High", "1000-2000:performance" as "1000-2000:Performance".
    std::string text = given->second;
    bool first = true;
    for (char& c : text) {
        if (first) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        first = c == ':' || c == '-';
    }
    out.set("SLURM_CPU_FREQ_REQ", text);
}

}  // namespace switchyard::cli
