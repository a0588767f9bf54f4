#include "gpu/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "gpu/nvml_abi.hpp"

namespace switchyard::gpu {

using nvml::Device;
using nvml::Return;

// The functions we call, by their names. Those that older drivers lack stay null.
struct Nvml::Library {
    void* handle = nullptr;
    Return (*shutdown)() = nullptr;
    const char* (*error_string)(Return) = nullptr;
    Return (*driver_version)(char*, unsigned) = nullptr;
    Return (*count)(unsigned*) = nullptr;
    Return (*by_index)(unsigned, Device*) = nullptr;
    Return (*name)(Device, char*, unsigned) = nullptr;
    Return (*uuid)(Device, char*, unsigned) = nullptr;
    Return (*minor)(Device, unsigned*) = nullptr;
    Return (*memory)(Device, nvml::Memory*) = nullptr;
    Return (*memory_v2)(Device, nvml::MemoryV2*) = nullptr;
    Return (*utilization)(Device, nvml::Utilization*) = nullptr;
    Return (*power)(Device, unsigned*) = nullptr;
    Return (*energy)(Device, unsigned long long*) = nullptr;
    Return (*affinity)(Device, unsigned, unsigned long*) = nullptr;
    Return (*p2p)(Device, Device, unsigned, unsigned*) = nullptr;
    Return (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;
    Return (*mig_max)(Device, unsigned*) = nullptr;
    Return (*mig_by_index)(Device, unsigned, Device*) = nullptr;
    Return (*gpu_instance)(Device, unsigned*) = nullptr;
    Return (*compute_instance)(Device, unsigned*) = nullptr;
    Return (*processes)(Device, unsigned*, nvml::ProcessInfo*) = nullptr;
    Return (*process_use)(Device, nvml::ProcessSample*, unsigned*, unsigned long long) = nullptr;
    Return (*events_create)(nvml::EventSet*) = nullptr;
    Return (*events_register)(Device, unsigned long long, nvml::EventSet) = nullptr;
    Return (*events_wait)(nvml::EventSet, nvml::EventData*, unsigned) = nullptr;
    Return (*events_free)(nvml::EventSet) = nullptr;

    nvml::EventSet events = nullptr;
    std::vector<std::pair<std::uint32_t, Device>> devices;  // Those that answered, by index.
    std::map<std::uint32_t, std::string> silent;            // Those that did not, and why.
    std::map<std::uint32_t, unsigned long long> last_use;   // Time of the newest process sample.

    std::string words(Return code) const {
        if (error_string != nullptr) return error_string(code);
        return fmt::format("NVML error {}", code);
    }
    Device find(std::uint32_t index) const {
        for (const auto& [number, device] : devices) {
            if (number == index) return device;
        }
        return nullptr;
    }
};

namespace {

constexpr unsigned kCpuWords = 64;  // Of an affinity mask: 4096 hardware threads.
constexpr unsigned kProcessesMax = 1024;
constexpr unsigned kXidEventsMax = 64;  // Taken in one call of faults().

template <class F>
bool resolve(void* handle, F& into, const char* name) {
    into = reinterpret_cast<F>(::dlsym(handle, name));
    return into != nullptr;
}

std::string text_of(Return (*get)(Device, char*, unsigned), Device device) {
    std::array<char, nvml::kNameBytes> text{};
    if (get == nullptr || get(device, text.data(), text.size()) != nvml::kSuccess) return {};
    text.back() = '\0';
    return text.data();
}

model::IndexSet cpus_of(Return (*get)(Device, unsigned, unsigned long*), Device device) {
    model::IndexSet cpus;
    std::array<unsigned long, kCpuWords> mask{};
    if (get == nullptr || get(device, kCpuWords, mask.data()) != nvml::kSuccess) return cpus;
    constexpr std::uint32_t kBits = 8 * sizeof(unsigned long);
    for (std::uint32_t cpu = 0; cpu < kCpuWords * kBits; ++cpu) {
        if ((mask[cpu / kBits] >> (cpu % kBits)) & 1u) cpus.insert(cpu);
    }
    return cpus;
}

// "NVIDIA A100-SXM4-40GB MIG 1g.5gb" -> "1g.5gb".
std::string profile_of(const std::string& name) {
    const std::size_t mark = name.rfind("MIG ");
    return mark == std::string::npos ? std::string() : name.substr(mark + 4);
}

}  // namespace

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Nvml::~Nvml() {
    Library& lib = *library_;
    if (lib.events != nullptr) lib.events_free(lib.events);
    lib.shutdown();
    // The library stays mapped: NVML leaves threads of its own behind that must not lose their
    // code.
}

Result<std::unique_ptr<Nvml>> Nvml::open(const std::string& path) {
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return fail(Errc::NotFound, fmt::format("NVML: {}", ::dlerror()));
    auto lib = std::make_unique<Library>();
    Library& l = *lib;
    l.handle = handle;
    Return (*init)() = nullptr;
    const bool complete = resolve(handle, init, "nvmlInit_v2") &&
                          resolve(handle, l.shutdown, "nvmlShutdown") &&
                          resolve(handle, l.count, "nvmlDeviceGetCount_v2") &&
                          resolve(handle, l.by_index, "nvmlDeviceGetHandleByIndex_v2") &&
                          resolve(handle, l.name, "nvmlDeviceGetName") &&
                          resolve(handle, l.uuid, "nvmlDeviceGetUUID") &&
                          resolve(handle, l.minor, "nvmlDeviceGetMinorNumber") &&
                          resolve(handle, l.memory, "nvmlDeviceGetMemoryInfo");
    if (!complete) {
        return fail(Errc::Unsupported, fmt::format("NVML: {} lacks functions we need", path));
    }
    resolve(handle, l.error_string, "nvmlErrorString");
    resolve(handle, l.driver_version, "nvmlSystemGetDriverVersion");
    resolve(handle, l.memory_v2, "nvmlDeviceGetMemoryInfo_v2");
    resolve(handle, l.utilization, "nvmlDeviceGetUtilizationRates");
    resolve(handle, l.power, "nvmlDeviceGetPowerUsage");
    resolve(handle, l.energy, "nvmlDeviceGetTotalEnergyConsumption");
    resolve(handle, l.affinity, "nvmlDeviceGetCpuAffinity");
    resolve(handle, l.p2p, "nvmlDeviceGetP2PStatus");
    resolve(handle, l.mig_mode, "nvmlDeviceGetMigMode");
    resolve(handle, l.mig_max, "nvmlDeviceGetMaxMigDeviceCount");
    resolve(handle, l.mig_by_index, "nvmlDeviceGetMigDeviceHandleByIndex");
    resolve(handle, l.gpu_instance, "nvmlDeviceGetGpuInstanceId");
    resolve(handle, l.compute_instance, "nvmlDeviceGetComputeInstanceId");
    resolve(handle, l.processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    resolve(handle, l.process_use, "nvmlDeviceGetProcessUtilization");
    if (resolve(handle, l.events_create, "nvmlEventSetCreate") &&
        resolve(handle, l.events_register, "nvmlDeviceRegisterEvents") &&
        resolve(handle, l.events_free, "nvmlEventSetFree")) {
        resolve(handle, l.events_wait, "nvmlEventSetWait_v2");
    }
    if (const Return code = init(); code != nvml::kSuccess) {
        return fail(Errc::Unsupported, fmt::format("NVML: {}", l.words(code)));
    }
    return std::unique_ptr<Nvml>(new Nvml(std::move(lib)));
}

Result<std::string> Nvml::driver_version() {
    std::array<char, nvml::kVersionBytes> text{};
    Library& l = *library_;
    const Return code = l.driver_version == nullptr ? nvml::kFunctionNotFound
                                                    : l.driver_version(text.data(), text.size());
    if (code != nvml::kSuccess) return fail(Errc::Io, fmt::format("NVML: {}", l.words(code)));
    text.back() = '\0';
    return std::string(text.data());
}

namespace {

// The slices of a card in MIG mode. `Lib` is Nvml::Library, which has no name out here.
template <class Lib>
void read_slices(Lib& l, Device device, Card& card) {
    unsigned current = 0, pending = 0, most = 0;
    if (l.mig_mode == nullptr || l.mig_mode(device, &current, &pending) != nvml::kSuccess) return;
    card.mig = current == 1;
    if (!card.mig || l.mig_max == nullptr || l.mig_by_index == nullptr) return;
    if (l.mig_max(device, &most) != nvml::kSuccess) return;
    for (unsigned i = 0; i < most; ++i) {
        Device part = nullptr;
        if (l.mig_by_index(device, i, &part) != nvml::kSuccess) continue;
        MigSlice slice;
        slice.profile = profile_of(text_of(l.name, part));
        slice.uuid = text_of(l.uuid, part);
        nvml::Memory memory{};
        if (l.memory(part, &memory) == nvml::kSuccess) slice.memory_bytes = memory.total;
        if (l.gpu_instance != nullptr) l.gpu_instance(part, &slice.gpu_instance);
        if (l.compute_instance != nullptr) l.compute_instance(part, &slice.compute_instance);
        card.slices.push_back(std::move(slice));
    }
}

template <class Lib>
Return read_card(Lib& l, Device device, Card& card) {
    unsigned minor = 0;
    nvml::Memory memory{};
    if (const Return code = l.minor(device, &minor); code != nvml::kSuccess) return code;
    if (const Return code = l.memory(device, &memory); code != nvml::kSuccess) return code;
    card.minor_number = minor;
    card.memory_bytes = memory.total;
    card.name = text_of(l.name, device);
    card.uuid = text_of(l.uuid, device);
    card.cpus = cpus_of(l.affinity, device);
    read_slices(l, device, card);
    return nvml::kSuccess;
}

// Processes with their memory, and how busy each kept the card since the last look.
template <class Lib>
std::vector<CardProcess> read_processes(Lib& l, std::uint32_t index, Device device) {
    std::vector<CardProcess> found;
    std::vector<nvml::ProcessInfo> list(kProcessesMax);
    unsigned count = kProcessesMax;
    if (l.processes == nullptr || l.processes(device, &count, list.data()) != nvml::kSuccess) {
        return found;
    }
    for (unsigned i = 0; i < std::min(count, kProcessesMax); ++i) {
        const bool known = list[i].used_memory != nvml::kUnknownBytes;
        found.push_back({list[i].pid, known ? list[i].used_memory : 0, std::nullopt});
    }
    if (found.empty() || l.process_use == nullptr) return found;
    std::vector<nvml::ProcessSample> samples(kProcessesMax);
    unsigned long long& last = l.last_use[index];
    count = kProcessesMax;
    if (l.process_use(device, samples.data(), &count, last) != nvml::kSuccess) return found;
    for (unsigned i = 0; i < std::min(count, kProcessesMax); ++i) {
        last = std::max(last, samples[i].time);
        for (CardProcess& process : found) {
            if (process.pid == samples[i].pid) process.sm_percent = samples[i].sm;
        }
    }
    return found;
}

}  // namespace

Result<std::vector<Card>> Nvml::cards() {
    Library& l = *library_;
    unsigned count = 0;
    if (const Return code = l.count(&count); code != nvml::kSuccess) {
        return fail(Errc::Io, fmt::format("NVML: {}", l.words(code)));
    }
    std::vector<Card> found;
    l.devices.clear();
    l.silent.clear();
    for (unsigned index = 0; index < count; ++index) {
        Device device = nullptr;
        Card card;
        card.index = index;
        Return code = l.by_index(index, &device);
        if (code == nvml::kSuccess) code = read_card(l, device, card);
        if (code != nvml::kSuccess) {
            l.silent[index] = l.words(code);
            continue;
        }
        l.devices.emplace_back(index, device);
        found.push_back(std::move(card));
    }
    for (Card& card : found) {
        for (const auto& [other, device] : l.devices) {
            unsigned status = 1;
            if (other == card.index || l.p2p == nullptr) continue;
            const Return code = l.p2p(l.find(card.index), device, nvml::kP2pNvlink, &status);
            if (code == nvml::kSuccess && status == 0) card.links.insert(other);
        }
    }
    return found;
}

Result<CardSample> Nvml::sample(std::uint32_t index) {
    Library& l = *library_;
    Device device = l.find(index);
    if (device == nullptr) return fail(Errc::NotFound, fmt::format("no GPU {}", index));
    CardSample sample;
    nvml::Memory memory{};
    if (const Return code = l.memory(device, &memory); code != nvml::kSuccess) {
        return fail(Errc::Io, l.words(code));
    }
    // As nvidia-smi counts it: without what the driver keeps for itself.
    nvml::MemoryV2 exact{
        .version = nvml::kMemoryV2, .total = 0, .reserved = 0, .free = 0, .used = 0};
    const bool told = l.memory_v2 != nullptr && l.memory_v2(device, &exact) == nvml::kSuccess;
    sample.memory_used_bytes = told ? exact.used : memory.used;
    nvml::Utilization use{};
    if (l.utilization != nullptr && l.utilization(device, &use) == nvml::kSuccess) {
        sample.utilization_percent = use.gpu;
    }
    unsigned power = 0;
    if (l.power != nullptr && l.power(device, &power) == nvml::kSuccess) {
        sample.power_milliwatts = power;
    }
    unsigned long long energy = 0;
    if (l.energy != nullptr && l.energy(device, &energy) == nvml::kSuccess) {
        sample.energy_millijoules = energy;
    }
    sample.processes = read_processes(l, index, device);
    return sample;
}

std::vector<CardFault> Nvml::faults(Millis wait) {
    Library& l = *library_;
    std::vector<CardFault> found;
    if (l.events_wait != nullptr && l.events == nullptr && !l.devices.empty()) {
        if (l.events_create(&l.events) != nvml::kSuccess) l.events = nullptr;
        for (const auto& [index, device] : l.devices) {
            if (l.events != nullptr) l.events_register(device, nvml::kEventXid, l.events);
        }
    }
    for (unsigned i = 0; l.events != nullptr && i < kXidEventsMax; ++i) {
        nvml::EventData event{};
        const auto ms = static_cast<unsigned>(i == 0 ? wait.count() : 0);
        if (l.events_wait(l.events, &event, ms) != nvml::kSuccess) break;
        if (event.type != nvml::kEventXid) continue;
        for (const auto& [index, device] : l.devices) {
            if (device != event.device) continue;
            found.push_back({index, fmt::format("XID {}", event.data), is_fatal_xid(event.data)});
        }
    }
    for (const auto& [index, why] : l.silent) found.push_back({index, why, true});
    for (const auto& [index, device] : l.devices) {
        nvml::Memory memory{};
        const Return code = l.memory(device, &memory);
        if (code == nvml::kGpuIsLost || code == nvml::kResetRequired) {
            found.push_back({index, l.words(code), true});
        }
    }
    return found;
}

// The driver's list of XIDs tells for each whether an application can cause it. These it can:
// 13 graphics engine exception, 31 memory page fault, 43 stopped processing, 45 preemptive cleanup,
// 68 video processor exception, 69 graphics engine class error, 137 NVLink fault by a remote
// access, 154 is only advice on how to recover.
bool is_fatal_xid(std::uint64_t xid) {
    constexpr std::array<std::uint64_t, 8> kByPrograms{13, 31, 43, 45, 68, 69, 137, 154};
    return std::ranges::find(kByPrograms, xid) == kByPrograms.end();
}

}  // namespace switchyard::gpu
