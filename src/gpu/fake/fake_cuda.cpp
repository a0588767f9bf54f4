// fake_cuda.cpp: a library that answers like the CUDA driver, for testing the guard without a card.
//
// The card is a file (FAKE_CUDA) shared by all processes of a test: it runs kernels one after the
// other, whoever launched them, each taking FAKE_KERNEL_US, and has FAKE_MEMORY_MIB of memory.
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>

#include "gpu/guard/cuda_abi.hpp"

namespace switchyard::guard {

namespace {

struct Card {
    std::atomic<std::uint64_t> busy_until, used;
};

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

Card& card() {
    static Card* const mapped = [] {
        const char* path = std::getenv("FAKE_CUDA");
        const int fd = path == nullptr ? -1 : ::open(path, O_RDWR | O_CREAT, 0600);
        if (fd >= 0 && ::ftruncate(fd, 4096) != 0) std::abort();
        void* at = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                          fd >= 0 ? MAP_SHARED : MAP_SHARED | MAP_ANONYMOUS, fd, 0);
        return static_cast<Card*>(at);
    }();
    return *mapped;
}

std::uint64_t total() { return setting("FAKE_MEMORY_MIB", 1024) << 20; }

std::uint64_t now() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(t.tv_nsec);
}

void sleep_until(std::uint64_t moment) {
    const timespec t{static_cast<time_t>(moment / 1'000'000'000u),
                     static_cast<long>(moment % 1'000'000'000u)};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr);
}

std::mutex lock;
std::map<std::uint64_t, std::uint64_t> allocations;
std::atomic<std::uint64_t> next_address = 1ull << 40;
std::atomic<std::uint64_t> own_until = 0;

Result allocate(DevicePointer* at, std::size_t bytes) {
    if (card().used.fetch_add(bytes) + bytes > total()) {
        card().used -= bytes;
        return kCudaOutOfMemory;
    }
    *at = next_address.fetch_add(bytes + 4096);
    const std::lock_guard<std::mutex> locked(lock);
    allocations[*at] = bytes;
    return kCudaSuccess;
}

Result release(DevicePointer at) {
    const std::lock_guard<std::mutex> locked(lock);
    const auto found = allocations.find(at);
    if (found == allocations.end()) return kCudaInvalidValue;
    card().used -= found->second;
    allocations.erase(found);
    return kCudaSuccess;
}

Result launch() {
    const std::uint64_t length = setting("FAKE_KERNEL_US", 1000) * 1000;
    std::uint64_t before = card().busy_until;
    std::uint64_t end = 0;
    do {
        end = (before > now() ? before : now()) + length;
    } while (!card().busy_until.compare_exchange_weak(before, end));
    own_until = end;
    return kCudaSuccess;
}

struct FakeEvent {
    std::uint64_t moment = 0;
};

}  // namespace

extern "C" {

Result cuInit(unsigned) { return kCudaSuccess; }
Result cuDeviceGetUuid_v2(Uuid* uuid, DeviceNumber device) {
    memset(uuid->bytes, device, sizeof(uuid->bytes));
    return kCudaSuccess;
}
Result cuCtxGetDevice(DeviceNumber* device) {
    *device = 0;
    return kCudaSuccess;
}
Result cuCtxGetCurrent(Context* context) {
    *context = reinterpret_cast<Context>(16);
    return kCudaSuccess;
}
Result cuCtxPushCurrent_v2(Context) { return kCudaSuccess; }
Result cuCtxPopCurrent_v2(Context*) { return kCudaSuccess; }
Result cuDevicePrimaryCtxReset_v2(DeviceNumber) {
    const std::lock_guard<std::mutex> locked(lock);
    for (const auto& [at, bytes] : allocations) card().used -= bytes;
    allocations.clear();
    return kCudaSuccess;
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceNumber) {
    *bytes = total();
    return kCudaSuccess;
}
Result cuMemGetInfo_v2(std::size_t* left, std::size_t* all) {
    *all = total();
    *left = total() - card().used;
    return kCudaSuccess;
}
Result cuMemAlloc_v2(DevicePointer* at, std::size_t bytes) { return allocate(at, bytes); }
Result cuMemAllocAsync(DevicePointer* at, std::size_t bytes, Stream) { return allocate(at, bytes); }
Result cuMemFree_v2(DevicePointer at) { return release(at); }
Result cuMemFreeAsync(DevicePointer at, Stream) { return release(at); }
Result cuMemCreate(MemoryHandle* handle, std::size_t bytes, const MemoryProperties*,
                   unsigned long long) {
    return allocate(handle, bytes);
}
// Physical memory is freed by the last of handle and mappings; one mapping is enough for a test.
static std::map<std::uint64_t, std::pair<bool, bool>> physical;  // Handle held, mapped.
static std::map<std::uint64_t, std::uint64_t> mappings;
Result cuMemMap(DevicePointer at, std::size_t, std::size_t, MemoryHandle handle,
                unsigned long long) {
    physical[handle] = {true, true};
    mappings[at] = handle;
    return kCudaSuccess;
}
Result cuMemUnmap(DevicePointer at, std::size_t) {
    const std::uint64_t handle = mappings[at];
    physical[handle].second = false;
    return physical[handle].first ? kCudaSuccess : release(handle);
}
Result cuMemRelease(MemoryHandle handle) {
    if (!physical[handle].second) return release(handle);
    physical[handle].first = false;
    return kCudaSuccess;
}
Result cuLaunchKernel(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, Stream, void**, void**) {
    return launch();
}
Result cuCtxSynchronize() {
    sleep_until(own_until);
    return kCudaSuccess;
}
Result cuEventCreate(Event* event, unsigned) {
    *event = new FakeEvent;
    return kCudaSuccess;
}
Result cuEventRecord(Event event, Stream) {
    static_cast<FakeEvent*>(event)->moment = own_until;
    return kCudaSuccess;
}
Result cuEventSynchronize(Event event) {
    sleep_until(static_cast<FakeEvent*>(event)->moment);
    return kCudaSuccess;
}
Result cuThreadExchangeStreamCaptureMode(int*) { return kCudaSuccess; }

Result cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long,
                           int* status) {
    const struct {
        const char* name;
        void* function;
    } rows[] = {
        {"cuMemAlloc", reinterpret_cast<void*>(&cuMemAlloc_v2)},
        {"cuMemFree", reinterpret_cast<void*>(&cuMemFree_v2)},
        {"cuMemGetInfo", reinterpret_cast<void*>(&cuMemGetInfo_v2)},
        {"cuDeviceTotalMem", reinterpret_cast<void*>(&cuDeviceTotalMem_v2)},
        {"cuLaunchKernel", reinterpret_cast<void*>(&cuLaunchKernel)},
        {"cuCtxSynchronize", reinterpret_cast<void*>(&cuCtxSynchronize)},
        {"cuGetProcAddress", reinterpret_cast<void*>(&cuGetProcAddress_v2)},
    };
    *function = nullptr;
    for (const auto& row : rows) {
        if (strcmp(row.name, name) == 0) *function = row.function;
    }
    if (status != nullptr) *status = *function == nullptr ? 1 : 0;
    return *function == nullptr ? 500 : kCudaSuccess;
}
}

}  // namespace switchyard::guard
