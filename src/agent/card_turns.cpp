#include "agent/card_turns.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "gpu/guard/turns.hpp"
#include "os/sealed_memory.hpp"

namespace switchyard::agent {

Status CardTurns::keep(const std::string& folder, const model::IndexSet& devices) {
    const std::string place = folder.substr(folder.rfind('/') + 1);
    for (const std::uint32_t device : devices.to_vector()) {
        if (memory_.contains(device)) continue;
        const std::string name = fmt::format("{}/card{}", place, device);
        auto memory = os::find_sealed_memory(name, guard::Turns::kBytes);
        if (!memory) memory = os::make_sealed_memory(name, guard::Turns::kBytes);
        if (!memory) return Failure{memory.error()};
        memory_[device] = *std::move(memory);
    }
    return {};
}

std::map<std::uint32_t, std::string> CardTurns::paths() const {
    std::map<std::uint32_t, std::string> paths;
    for (const auto& [device, memory] : memory_)
        paths[device] = fmt::format("/proc/{}/fd/{}", ::getpid(), memory.get());
    return paths;
}

}  // namespace switchyard::agent
