// fake_nvml.cpp: a library that answers like NVML, for tests on machines without a card.
//
// What it says stands in the text file that FAKE_NVML names; the file is read again at every call,
// so that a test can change it under a running program. One line per thing:
//
//   driver 580.0
//   card NAME=NVIDIA H200;UUID=GPU-1;MINOR=0;MEMORY=150000;CPUS=0-3;UTIL=50;USED=1000;POWER=300000
//                                 (and RESERVED=600: what the driver keeps for itself; ENERGY=5000:
//                                 millijoules since it was loaded; without it, it does not count)
//   link 0 1                      NVLink between the cards 0 and 1
//   process 0 PID MIB SM          a process on card 0
//   slice 0 1g.18gb MIG-1 18000 1 0    card 0 is in MIG mode and has this instance
//   xid 0 79                      an event, told once
//   lost 1                        card 1 does not answer
//   limits                        memory can be limited by cgroups; the limits are kept in a file
//                                 with ".limits" behind its name: card, bytes, path of the cgroup
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gpu/nvml_abi.hpp"

namespace {

namespace nvml = switchyard::gpu::nvml;
using nvml::Return;

struct Slice {
    unsigned card;
    std::string profile, uuid;
    unsigned long long mib;
    unsigned gpu_instance, compute_instance;
};

struct World {
    std::string driver = "0";
    std::vector<std::map<std::string, std::string>> cards;
    std::vector<std::pair<unsigned, unsigned>> links;
    std::map<unsigned, std::vector<nvml::ProcessInfo>> processes;
    std::map<unsigned, std::vector<nvml::ProcessSample>> use;
    std::vector<Slice> slices;
    std::vector<std::pair<unsigned, unsigned long long>> xids;
    std::vector<unsigned> lost;
    bool limits = false;

    unsigned long long number(unsigned card, const char* key) const {
        const auto at = cards[card].find(key);
        return at == cards[card].end() ? 0 : std::strtoull(at->second.c_str(), nullptr, 10);
    }
    std::string text(unsigned card, const char* key) const {
        const auto at = cards[card].find(key);
        return at == cards[card].end() ? std::string() : at->second;
    }
    bool is_lost(unsigned card) const { return std::ranges::find(lost, card) != lost.end(); }
};

void read_process(std::istream& words, World& world) {
    unsigned card = 0, pid = 0, sm = 0;
    unsigned long long mib = 0;
    words >> card >> pid >> mib >> sm;
    world.processes[card].push_back({pid, mib << 20, 0, 0});
    world.use[card].push_back({pid, 1, sm, 0, 0, 0});
}

void read_card(std::istream& words, World& world) {
    std::string rest, pair;
    std::getline(words >> std::ws, rest);
    std::istringstream pairs(rest);
    auto& card = world.cards.emplace_back();
    while (std::getline(pairs, pair, ';')) {
        const auto sign = pair.find('=');
        card[pair.substr(0, sign)] = pair.substr(sign + 1);
    }
}

// The file that says what there is: for processes whose environment is not a test's to choose, the
// file "nvml" beside this library.
std::string world_file() {
    if (const char* path = std::getenv("FAKE_NVML")) return path;
    Dl_info self{};
    if (::dladdr(reinterpret_cast<void*>(&world_file), &self) == 0) return {};
    const std::string library = self.dli_fname;
    return library.substr(0, library.rfind('/') + 1) + "nvml";
}

World read_world() {
    World world;
    std::ifstream file(world_file());
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string what;
        words >> what;
        unsigned card = 0;
        if (what == "driver") words >> world.driver;
        if (what == "card") read_card(words, world);
        if (what == "process") read_process(words, world);
        if (what == "link") {
            unsigned other = 0;
            words >> card >> other;
            world.links.emplace_back(card, other);
        }
        if (what == "slice") {
            Slice slice;
            words >> slice.card >> slice.profile >> slice.uuid >> slice.mib >> slice.gpu_instance >>
                slice.compute_instance;
            world.slices.push_back(slice);
        }
        if (what == "xid") {
            unsigned long long xid = 0;
            words >> card >> xid;
            world.xids.emplace_back(card, xid);
        }
        if (what == "limits") world.limits = true;
        if (what == "lost") {
            words >> card;
            world.lost.push_back(card);
        }
    }
    return world;
}

// Handles are small numbers: 1 + card, and for slices 1000 + slice.
constexpr std::uintptr_t kSlices = 1000;

nvml::Device handle_of(std::uintptr_t number) { return reinterpret_cast<nvml::Device>(number); }
std::uintptr_t number_of(nvml::Device device) { return reinterpret_cast<std::uintptr_t>(device); }

unsigned card_of(const World& world, nvml::Device device) {
    const std::uintptr_t number = number_of(device);
    if (number >= kSlices) return world.slices[number - kSlices].card;
    return static_cast<unsigned>(number - 1);
}

const Slice* slice_of(const World& world, nvml::Device device) {
    return number_of(device) >= kSlices ? &world.slices[number_of(device) - kSlices] : nullptr;
}

Return put(const std::string& text, char* to, unsigned size) {
    if (text.size() >= size) return nvml::kInsufficientSize;
    std::memcpy(to, text.c_str(), text.size() + 1);
    return nvml::kSuccess;
}

// "0-3,8" as bits.
void put_cpus(const std::string& text, unsigned words, unsigned long* mask) {
    std::istringstream ranges(text);
    for (std::string range; std::getline(ranges, range, ',');) {
        unsigned first = 0, last = 0;
        if (std::sscanf(range.c_str(), "%u-%u", &first, &last) < 2) last = first;
        for (unsigned cpu = first; cpu <= last && cpu / 64 < words; ++cpu) {
            mask[cpu / 64] |= 1ul << (cpu % 64);
        }
    }
}

std::string limits_file() { return world_file() + ".limits"; }

bool can_limit(const World& world, nvml::Device device) {
    return world.limits && slice_of(world, device) == nullptr;
}

}  // namespace

extern "C" {

Return nvmlInit_v2() {
    if (read_world().cards.empty()) return 9;
    // The real one has such a thread too: signals that its caller blocks later would find it.
    static std::once_flag once;
    std::call_once(once, [] {
        std::thread([] {
            for (;;) ::pause();
        }).detach();
    });
    return nvml::kSuccess;
}
Return nvmlShutdown() { return nvml::kSuccess; }
const char* nvmlErrorString(Return code) {
    if (code == 9) return "Driver Not Loaded";
    return code == nvml::kGpuIsLost ? "GPU is lost" : "Unknown Error";
}
Return nvmlSystemGetDriverVersion(char* to, unsigned size) {
    return put(read_world().driver, to, size);
}
Return nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(read_world().cards.size());
    return nvml::kSuccess;
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, nvml::Device* device) {
    if (read_world().is_lost(index)) return nvml::kGpuIsLost;
    *device = handle_of(1 + index);
    return nvml::kSuccess;
}
Return nvmlDeviceGetHandleByUUID(const char* uuid, nvml::Device* device) {
    const World world = read_world();
    for (unsigned card = 0; card < world.cards.size(); ++card) {
        if (world.text(card, "UUID") != uuid) continue;
        *device = handle_of(1 + card);
        return nvml::kSuccess;
    }
    return nvml::kNotFound;
}
Return nvmlDeviceGetName(nvml::Device device, char* to, unsigned size) {
    const World world = read_world();
    const std::string name = world.text(card_of(world, device), "NAME");
    const Slice* slice = slice_of(world, device);
    return put(slice == nullptr ? name : name + " MIG " + slice->profile, to, size);
}
Return nvmlDeviceGetUUID(nvml::Device device, char* to, unsigned size) {
    const World world = read_world();
    const Slice* slice = slice_of(world, device);
    return put(slice == nullptr ? world.text(card_of(world, device), "UUID") : slice->uuid, to,
               size);
}
Return nvmlDeviceGetMinorNumber(nvml::Device device, unsigned* minor) {
    const World world = read_world();
    *minor = static_cast<unsigned>(world.number(card_of(world, device), "MINOR"));
    return nvml::kSuccess;
}
Return nvmlDeviceGetMemoryInfo(nvml::Device device, nvml::Memory* memory) {
    const World world = read_world();
    const unsigned card = card_of(world, device);
    if (world.is_lost(card)) return nvml::kGpuIsLost;
    const Slice* slice = slice_of(world, device);
    memory->total = (slice == nullptr ? world.number(card, "MEMORY") : slice->mib) << 20;
    memory->used = (world.number(card, "USED") + world.number(card, "RESERVED")) << 20;
    memory->free = memory->total - std::min(memory->used, memory->total);
    return nvml::kSuccess;
}
Return nvmlDeviceGetMemoryInfo_v2(nvml::Device device, nvml::MemoryV2* memory) {
    nvml::Memory all{};
    if (memory->version != nvml::kMemoryV2) return nvml::kVersionMismatch;
    if (const Return code = nvmlDeviceGetMemoryInfo(device, &all); code != nvml::kSuccess)
        return code;
    const World world = read_world();
    memory->reserved = world.number(card_of(world, device), "RESERVED") << 20;
    memory->total = all.total;
    memory->free = all.free;
    memory->used = all.used - memory->reserved;
    return nvml::kSuccess;
}
Return nvmlDeviceGetUtilizationRates(nvml::Device device, nvml::Utilization* use) {
    const World world = read_world();
    use->gpu = static_cast<unsigned>(world.number(card_of(world, device), "UTIL"));
    use->memory = 0;
    return nvml::kSuccess;
}
Return nvmlDeviceGetPowerUsage(nvml::Device device, unsigned* milliwatts) {
    const World world = read_world();
    *milliwatts = static_cast<unsigned>(world.number(card_of(world, device), "POWER"));
    return nvml::kSuccess;
}
Return nvmlDeviceGetTotalEnergyConsumption(nvml::Device device, unsigned long long* millijoules) {
    const World world = read_world();
    const unsigned card = card_of(world, device);
    if (!world.cards[card].contains("ENERGY")) return nvml::kNotSupported;
    *millijoules = world.number(card, "ENERGY");
    return nvml::kSuccess;
}
Return nvmlDeviceGetCpuAffinity(nvml::Device device, unsigned words, unsigned long* mask) {
    const World world = read_world();
    put_cpus(world.text(card_of(world, device), "CPUS"), words, mask);
    return nvml::kSuccess;
}
Return nvmlDeviceGetP2PStatus(nvml::Device a, nvml::Device b, unsigned, unsigned* status) {
    const World world = read_world();
    const unsigned x = card_of(world, a), y = card_of(world, b);
    *status = 1;
    for (const auto& [from, to] : world.links) {
        if ((from == x && to == y) || (from == y && to == x)) *status = 0;
    }
    return nvml::kSuccess;
}
Return nvmlDeviceGetMigMode(nvml::Device device, unsigned* current, unsigned* pending) {
    const World world = read_world();
    const unsigned card = card_of(world, device);
    *current = 0;
    for (const Slice& slice : world.slices) {
        if (slice.card == card) *current = 1;
    }
    *pending = *current;
    return nvml::kSuccess;
}
Return nvmlDeviceGetMaxMigDeviceCount(nvml::Device, unsigned* count) {
    *count = 7;
    return nvml::kSuccess;
}
Return nvmlDeviceGetMigDeviceHandleByIndex(nvml::Device device, unsigned index,
                                           nvml::Device* part) {
    const World world = read_world();
    const unsigned card = card_of(world, device);
    for (std::size_t i = 0; i < world.slices.size(); ++i) {
        if (world.slices[i].card != card || index-- != 0) continue;
        *part = handle_of(kSlices + i);
        return nvml::kSuccess;
    }
    return nvml::kNotFound;
}
Return nvmlDeviceGetGpuInstanceId(nvml::Device device, unsigned* id) {
    const World world = read_world();
    *id = slice_of(world, device)->gpu_instance;
    return nvml::kSuccess;
}
Return nvmlDeviceGetComputeInstanceId(nvml::Device device, unsigned* id) {
    const World world = read_world();
    *id = slice_of(world, device)->compute_instance;
    return nvml::kSuccess;
}
Return nvmlDeviceGetComputeRunningProcesses_v3(nvml::Device device, unsigned* count,
                                               nvml::ProcessInfo* list) {
    World world = read_world();
    const auto& found = world.processes[card_of(world, device)];
    if (found.size() > *count) return nvml::kInsufficientSize;
    std::ranges::copy(found, list);
    *count = static_cast<unsigned>(found.size());
    return nvml::kSuccess;
}
Return nvmlDeviceGetProcessUtilization(nvml::Device device, nvml::ProcessSample* list,
                                       unsigned* count, unsigned long long) {
    World world = read_world();
    const auto& found = world.use[card_of(world, device)];
    if (found.size() > *count) return nvml::kInsufficientSize;
    std::ranges::copy(found, list);
    *count = static_cast<unsigned>(found.size());
    return nvml::kSuccess;
}
Return nvmlDeviceSetMemoryLimits_v1(nvml::Device device, nvml::SetMemoryLimits* limits) {
    const World world = read_world();
    if (!can_limit(world, device)) return nvml::kNotSupported;
    std::ofstream(limits_file(), std::ios::app)
        << card_of(world, device) << ' ' << limits->hard << ' ' << limits->cgroup << '\n';
    return nvml::kSuccess;
}
Return nvmlDeviceGetMemoryLimits_v1(nvml::Device device, nvml::GetMemoryLimits* limits) {
    const World world = read_world();
    if (!can_limit(world, device)) return nvml::kNotSupported;
    limits->soft = limits->used = 0;
    limits->hard = ~0ull;
    std::ifstream file(limits_file());
    unsigned card = 0;
    unsigned long long bytes = 0;
    for (std::string cgroup; file >> card >> bytes >> cgroup;) {
        if (card == card_of(world, device) && cgroup == limits->cgroup) limits->hard = bytes;
    }
    return nvml::kSuccess;
}

// An event set is a count of the events already told.
Return nvmlEventSetCreate(nvml::EventSet* set) {
    *set = reinterpret_cast<nvml::EventSet>(new std::size_t(0));
    return nvml::kSuccess;
}
Return nvmlDeviceRegisterEvents(nvml::Device, unsigned long long, nvml::EventSet) {
    return nvml::kSuccess;
}
Return nvmlEventSetWait_v2(nvml::EventSet set, nvml::EventData* event, unsigned) {
    const World world = read_world();
    auto* told = reinterpret_cast<std::size_t*>(set);
    if (*told >= world.xids.size()) return nvml::kTimeout;
    const auto& [card, xid] = world.xids[(*told)++];
    *event = {handle_of(1 + card), nvml::kEventXid, xid, 0, 0};
    return nvml::kSuccess;
}
Return nvmlEventSetFree(nvml::EventSet set) {
    delete reinterpret_cast<std::size_t*>(set);
    return nvml::kSuccess;
}
}
