// intercept_lookup.cpp: the ways a program finds the driver's functions, and NVML's answers on
// memory.
#include <dlfcn.h>
#include <string.h>

#include <initializer_list>

#include "gpu/guard/driver.hpp"
#include "gpu/guard/guard.hpp"
#include "gpu/guard/intercept.hpp"

// Other compilers make the jump by themselves when they optimise, which the guard always is.
#if __has_cpp_attribute(clang::musttail)
#define SY_JUMP [[clang::musttail]]
#else
#define SY_JUMP
#endif

namespace switchyard::guard {
namespace {

template <class Visit>
void for_each_replacement(Visit&& visit) {
    for (const Replacements& rows :
         {memory_replacements(), launch_replacements(), other_replacements()}) {
        for (unsigned i = 0; i < rows.count; ++i) visit(rows.first[i]);
    }
}

void* replacement_of_symbol(const char* name) {
    void* found = nullptr;
    for_each_replacement([&](const Replacement& row) {
        if (strcmp(row.symbol, name) == 0) found = row.function;
    });
    return found;
}

// The newest variant that the asked-for version of CUDA knows.
void* replacement_of_base(const char* name, int version, std::uint64_t flags) {
    const Replacement* best = nullptr;
    bool variants = false;
    for_each_replacement([&](const Replacement& row) {
        if (row.base != nullptr && strcmp(row.base, name) == 0 && row.per_thread) variants = true;
    });
    const bool per_thread = variants && (flags & kPerThreadStreams) != 0;
    for_each_replacement([&](const Replacement& row) {
        if (row.base == nullptr || strcmp(row.base, name) != 0) return;
        if (row.version > version || row.per_thread != per_thread) return;
        if (best == nullptr || row.version > best->version) best = &row;
    });
    return best == nullptr ? nullptr : best->function;
}

bool may_be_ours(const char* name) {
    return (name[0] == 'c' && name[1] == 'u') || strncmp(name, "nvml", 4) == 0;
}

// Our card behind one of NVML's devices.
int card_of_nvml(void* device) {
    using Call = int (*)(void*, char*, unsigned);
    static const auto ask = reinterpret_cast<Call>(nvml_function("nvmlDeviceGetUUID"));
    char uuid[96] = {};
    if (ask == nullptr || ask(device, uuid, sizeof(uuid)) != 0) return kNoCard;
    return Guard::get().card_by_uuid(uuid);
}

// Puts the share in place of the whole: what the job may hold, what it holds, what is left.
template <class Memory>
void show_share(int card, Memory* memory) {
    const auto at = static_cast<unsigned>(card);
    const std::uint64_t limit = Guard::get().limit_of(at, memory->total);
    const std::uint64_t held = Guard::get().memory_of_job(at);
    memory->total = limit;
    memory->used = held < limit ? held : limit;
    memory->free = limit - memory->used;
}

}  // namespace

// Functions of C have one name, whatever namespace they stand in.

SY_EXPORT Result cuGetProcAddress(const char* name, void** function, int version,
                                  unsigned long long flags) {
    const auto real =
        SY_DRIVER("cuGetProcAddress", Result(*)(const char*, void**, int, unsigned long long));
    if (real == nullptr) return kCudaNotInitialized;
    const Result result = real(name, function, version, flags);
    if (result != kCudaSuccess || !Guard::get().is_active() || function == nullptr) return result;
    void* ours = *function == nullptr ? nullptr : replacement_of_base(name, version, flags);
    if (ours != nullptr) *function = ours;
    return result;
}

SY_EXPORT Result cuGetProcAddress_v2(const char* name, void** function, int version,
                                     unsigned long long flags, int* status) {
    const auto real = SY_DRIVER("cuGetProcAddress_v2",
                                Result(*)(const char*, void**, int, unsigned long long, int*));
    if (real == nullptr) return kCudaNotInitialized;
    const Result result = real(name, function, version, flags, status);
    if (result != kCudaSuccess || !Guard::get().is_active() || function == nullptr) return result;
    void* ours = *function == nullptr ? nullptr : replacement_of_base(name, version, flags);
    if (ours != nullptr) *function = ours;
    return result;
}

SY_EXPORT int nvmlDeviceGetMemoryInfo(void* device, NvmlMemory* memory) {
    using Call = int (*)(void*, NvmlMemory*);
    static const auto real = reinterpret_cast<Call>(nvml_function("nvmlDeviceGetMemoryInfo"));
    if (real == nullptr) return 13;
    const int result = real(device, memory);
    const int card = result == 0 && Guard::get().is_active() ? card_of_nvml(device) : kNoCard;
    if (card != kNoCard) show_share(card, memory);
    return result;
}

SY_EXPORT int nvmlDeviceGetMemoryInfo_v2(void* device, NvmlMemoryV2* memory) {
    using Call = int (*)(void*, NvmlMemoryV2*);
    static const auto real = reinterpret_cast<Call>(nvml_function("nvmlDeviceGetMemoryInfo_v2"));
    if (real == nullptr) return 13;
    const int result = real(device, memory);
    const int card = result == 0 && Guard::get().is_active() ? card_of_nvml(device) : kNoCard;
    if (card == kNoCard) return result;
    memory->reserved = 0;
    show_share(card, memory);
    return result;
}

// Everything else goes to the real function by a jump, not a call: it looks at its return address
// to know who asks, which matters for RTLD_NEXT.
SY_EXPORT void* dlsym(void* __restrict handle, const char* __restrict name) noexcept {
    const Dlsym real = real_dlsym();
    if (may_be_ours(name) && Guard::get().is_active()) {
        if (void* ours = replacement_of_symbol(name)) {
            return real(handle, name) == nullptr ? nullptr : ours;
        }
    }
    SY_JUMP return real(handle, name);
}

#define SY_ROW(symbol, base, version) \
    {#symbol, base, version, false, reinterpret_cast<void*>(&symbol)}

Replacements other_replacements() {
    static const Replacement rows[] = {
        SY_ROW(cuGetProcAddress, "cuGetProcAddress", 11030),
        SY_ROW(cuGetProcAddress_v2, "cuGetProcAddress", 12000),
        SY_ROW(nvmlDeviceGetMemoryInfo, nullptr, 0),
        SY_ROW(nvmlDeviceGetMemoryInfo_v2, nullptr, 0),
    };
    return {rows, sizeof(rows) / sizeof(rows[0])};
}

}  // namespace switchyard::guard
