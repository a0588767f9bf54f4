// intercept_memory.cpp: allocation and release of a card's memory, and the questions how much
// there is.
#include <dlfcn.h>

#include "gpu/guard/driver.hpp"
#include "gpu/guard/guard.hpp"
#include "gpu/guard/intercept.hpp"

namespace switchyard::guard {
namespace {

constexpr std::uint64_t kPage = 2ull << 20;  // Large allocations come in such pages.
constexpr std::uint64_t kSmall = 1ull << 20, kSmallUnit = 512;
constexpr std::size_t kPitch = 512;

std::uint64_t round_up(std::uint64_t bytes, std::uint64_t unit) {
    const std::uint64_t rounded = (bytes + unit - 1) / unit * unit;
    return rounded < bytes ? bytes : rounded;
}

// What an allocation of so many bytes takes of the card.
std::uint64_t cost_of(std::uint64_t bytes) {
    return round_up(bytes, bytes < kSmall ? kSmallUnit : kPage);
}

// Saturating: a product that overflows is more than any card has.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t out = 0;
    return __builtin_mul_overflow(a, b, &out) ? ~0ull >> 1 : out;
}

std::uint64_t element_bytes(int format) {
    switch (format) {
        case 0x01:
        case 0x08:
            return 1;
        case 0x02:
        case 0x09:
        case 0x10:
            return 2;
        default:
            return 4;
    }
}

std::uint64_t array_bytes(const ArrayShape3d& shape) {
    const std::uint64_t row = product(shape.width, shape.channels * element_bytes(shape.format));
    const std::uint64_t plane = product(row, shape.height == 0 ? 1 : shape.height);
    return product(plane, shape.depth == 0 ? 1 : shape.depth);
}

// Reserves, lets the driver allocate, and keeps the result under the handle `key` tells.
template <class Allocate, class Key>
Result allocate(Kind kind, int card, std::uint64_t bytes, Allocate&& call, Key&& key) {
    Guard& guard = Guard::get();
    if (card == kNoCard) return call();
    const auto at = static_cast<unsigned>(card);
    const std::uint64_t cost = cost_of(bytes);
    if (!guard.reserve(at, cost)) return kCudaOutOfMemory;
    const Result result = call();
    if (result == kCudaSuccess) {
        guard.keep(kind, key(), at, cost);
    } else {
        guard.cancel(at, cost);
    }
    return result;
}

template <class Free>
Result release(Kind kind, std::uint64_t key, Free&& call) {
    Guard& guard = Guard::get();
    Holding holding;
    const bool known = guard.is_active() && guard.let_go(kind, key, &holding);
    const Result result = call();
    if (!known) return result;
    if (result == kCudaSuccess) {
        guard.credit(holding);
    } else {
        guard.put_back(holding);
    }
    return result;
}

int current() {
    Guard& guard = Guard::get();
    return guard.is_active() ? guard.current_card() : kNoCard;
}

std::uint64_t key_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

}  // namespace

// Functions of C have one name, whatever namespace they stand in.

// A call of the real function, or an error where the driver has none.
#define SY_REAL(name, ...)                           \
    const auto real = SY_DRIVER(#name, __VA_ARGS__); \
    if (real == nullptr) return kCudaNotInitialized

SY_EXPORT Result cuMemAlloc_v2(DevicePointer* at, std::size_t bytes) {
    SY_REAL(cuMemAlloc_v2, Result(*)(DevicePointer*, std::size_t));
    return allocate(
        Kind::Pointer, current(), bytes, [&] { return real(at, bytes); }, [&] { return *at; });
}

SY_EXPORT Result cuMemAllocPitch_v2(DevicePointer* at, std::size_t* pitch, std::size_t width,
                                    std::size_t height, unsigned element) {
    SY_REAL(cuMemAllocPitch_v2,
            Result(*)(DevicePointer*, std::size_t*, std::size_t, std::size_t, unsigned));
    return allocate(
        Kind::Pointer, current(), product(round_up(width, kPitch), height),
        [&] { return real(at, pitch, width, height, element); }, [&] { return *at; });
}

SY_EXPORT Result cuMemAllocManaged(DevicePointer* at, std::size_t bytes, unsigned flags) {
    SY_REAL(cuMemAllocManaged, Result(*)(DevicePointer*, std::size_t, unsigned));
    return allocate(
        Kind::Pointer, current(), bytes, [&] { return real(at, bytes, flags); },
        [&] { return *at; });
}

#define SY_ALLOCATE_ASYNC(name)                                                       \
    SY_EXPORT Result name(DevicePointer* at, std::size_t bytes, Stream stream) {      \
        SY_REAL(name, Result (*)(DevicePointer*, std::size_t, Stream));               \
        return allocate(                                                              \
            Kind::Pointer, current(), bytes, [&] { return real(at, bytes, stream); }, \
            [&] { return *at; });                                                     \
    }
SY_ALLOCATE_ASYNC(cuMemAllocAsync)
SY_ALLOCATE_ASYNC(cuMemAllocAsync_ptsz)

#define SY_ALLOCATE_FROM_POOL(name)                                                          \
    SY_EXPORT Result name(DevicePointer* at, std::size_t bytes, void* pool, Stream stream) { \
        SY_REAL(name, Result (*)(DevicePointer*, std::size_t, void*, Stream));               \
        return allocate(                                                                     \
            Kind::Pointer, current(), bytes, [&] { return real(at, bytes, pool, stream); },  \
            [&] { return *at; });                                                            \
    }
SY_ALLOCATE_FROM_POOL(cuMemAllocFromPoolAsync)
SY_ALLOCATE_FROM_POOL(cuMemAllocFromPoolAsync_ptsz)

SY_EXPORT Result cuMemFree_v2(DevicePointer at) {
    SY_REAL(cuMemFree_v2, Result(*)(DevicePointer));
    return release(Kind::Pointer, at, [&] { return real(at); });
}

#define SY_FREE_ASYNC(name)                                                  \
    SY_EXPORT Result name(DevicePointer at, Stream stream) {                 \
        SY_REAL(name, Result (*)(DevicePointer, Stream));                    \
        return release(Kind::Pointer, at, [&] { return real(at, stream); }); \
    }
SY_FREE_ASYNC(cuMemFreeAsync)
SY_FREE_ASYNC(cuMemFreeAsync_ptsz)

SY_EXPORT Result cuMemCreate(MemoryHandle* handle, std::size_t bytes,
                             const MemoryProperties* properties, unsigned long long flags) {
    SY_REAL(cuMemCreate,
            Result(*)(MemoryHandle*, std::size_t, const MemoryProperties*, unsigned long long));
    int card = kNoCard;
    if (properties != nullptr && properties->location.type == kLocationDevice &&
        Guard::get().is_active()) {
        card = Guard::get().card_of(properties->location.id);
    }
    return allocate(
        Kind::Handle, card, bytes, [&] { return real(handle, bytes, properties, flags); },
        [&] { return *handle; });
}

SY_EXPORT Result cuMemRelease(MemoryHandle handle) {
    SY_REAL(cuMemRelease, Result(*)(MemoryHandle));
    const Result result = real(handle);
    if (result == kCudaSuccess && Guard::get().is_active()) Guard::get().unrefer(handle);
    return result;
}

SY_EXPORT Result cuMemRetainAllocationHandle(MemoryHandle* handle, void* address) {
    SY_REAL(cuMemRetainAllocationHandle, Result(*)(MemoryHandle*, void*));
    const Result result = real(handle, address);
    if (result == kCudaSuccess && Guard::get().is_active()) Guard::get().refer(*handle);
    return result;
}

SY_EXPORT Result cuMemMap(DevicePointer at, std::size_t bytes, std::size_t offset,
                          MemoryHandle handle, unsigned long long flags) {
    SY_REAL(cuMemMap,
            Result(*)(DevicePointer, std::size_t, std::size_t, MemoryHandle, unsigned long long));
    const Result result = real(at, bytes, offset, handle, flags);
    if (result == kCudaSuccess && Guard::get().is_active()) {
        Guard::get().keep_mapping(at, bytes, handle);
    }
    return result;
}

SY_EXPORT Result cuMemUnmap(DevicePointer at, std::size_t bytes) {
    SY_REAL(cuMemUnmap, Result(*)(DevicePointer, std::size_t));
    const Result result = real(at, bytes);
    if (result == kCudaSuccess && Guard::get().is_active()) Guard::get().drop_mappings(at, bytes);
    return result;
}

SY_EXPORT Result cuArrayCreate_v2(Array* array, const ArrayShape* shape) {
    SY_REAL(cuArrayCreate_v2, Result(*)(Array*, const ArrayShape*));
    if (shape == nullptr) return real(array, shape);
    const ArrayShape3d full{shape->width, shape->height, 1, shape->format, shape->channels, 0};
    return allocate(
        Kind::Array, current(), array_bytes(full), [&] { return real(array, shape); },
        [&] { return key_of(*array); });
}

SY_EXPORT Result cuArray3DCreate_v2(Array* array, const ArrayShape3d* shape) {
    SY_REAL(cuArray3DCreate_v2, Result(*)(Array*, const ArrayShape3d*));
    if (shape == nullptr) return real(array, shape);
    return allocate(
        Kind::Array, current(), array_bytes(*shape), [&] { return real(array, shape); },
        [&] { return key_of(*array); });
}

SY_EXPORT Result cuMipmappedArrayCreate(Array* array, const ArrayShape3d* shape, unsigned levels) {
    SY_REAL(cuMipmappedArrayCreate, Result(*)(Array*, const ArrayShape3d*, unsigned));
    if (shape == nullptr) return real(array, shape, levels);
    // All smaller levels together are less than the first.
    const std::uint64_t bytes = product(array_bytes(*shape), levels > 1 ? 2 : 1);
    return allocate(
        Kind::Array, current(), bytes, [&] { return real(array, shape, levels); },
        [&] { return key_of(*array); });
}

SY_EXPORT Result cuArrayDestroy(Array array) {
    SY_REAL(cuArrayDestroy, Result(*)(Array));
    return release(Kind::Array, key_of(array), [&] { return real(array); });
}

SY_EXPORT Result cuMipmappedArrayDestroy(Array array) {
    SY_REAL(cuMipmappedArrayDestroy, Result(*)(Array));
    return release(Kind::Array, key_of(array), [&] { return real(array); });
}

SY_EXPORT Result cuCtxDestroy_v2(Context context) {
    SY_REAL(cuCtxDestroy_v2, Result(*)(Context));
    const Result result = real(context);
    if (result == kCudaSuccess && Guard::get().is_active() && context != nullptr) {
        Guard::get().credit_context(0, context);
    }
    return result;
}

SY_EXPORT Result cuDevicePrimaryCtxReset_v2(DeviceNumber device) {
    SY_REAL(cuDevicePrimaryCtxReset_v2, Result(*)(DeviceNumber));
    const Result result = real(device);
    const int card = Guard::get().is_active() ? Guard::get().card_of(device) : kNoCard;
    if (result == kCudaSuccess && card != kNoCard) {
        Guard::get().credit_context(static_cast<unsigned>(card), nullptr);
    }
    return result;
}

SY_EXPORT Result cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    SY_REAL(cuMemGetInfo_v2, Result(*)(std::size_t*, std::size_t*));
    const Result result = real(free, total);
    const int card = result == kCudaSuccess ? current() : kNoCard;
    if (card == kNoCard) return result;
    const auto at = static_cast<unsigned>(card);
    const std::uint64_t limit = Guard::get().limit_of(at);
    const std::uint64_t held = Guard::get().job_holds(at);
    const std::uint64_t left = held < limit ? limit - held : 0;
    if (free != nullptr && *free > left) *free = left;
    if (total != nullptr) *total = limit;
    return result;
}

SY_EXPORT Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceNumber device) {
    SY_REAL(cuDeviceTotalMem_v2, Result(*)(std::size_t*, DeviceNumber));
    const Result result = real(bytes, device);
    const int card =
        result == kCudaSuccess && Guard::get().is_active() ? Guard::get().card_of(device) : kNoCard;
    if (card != kNoCard) *bytes = Guard::get().limit_of(static_cast<unsigned>(card), *bytes);
    return result;
}

#define SY_ROW(symbol, base, version, per_thread) \
    {#symbol, base, version, per_thread, reinterpret_cast<void*>(&symbol)}

Replacements memory_replacements() {
    static const Replacement rows[] = {
        SY_ROW(cuMemAlloc_v2, "cuMemAlloc", 3020, false),
        SY_ROW(cuMemAllocPitch_v2, "cuMemAllocPitch", 3020, false),
        SY_ROW(cuMemAllocManaged, "cuMemAllocManaged", 6000, false),
        SY_ROW(cuMemAllocAsync, "cuMemAllocAsync", 11020, false),
        SY_ROW(cuMemAllocAsync_ptsz, "cuMemAllocAsync", 11020, true),
        SY_ROW(cuMemAllocFromPoolAsync, "cuMemAllocFromPoolAsync", 11020, false),
        SY_ROW(cuMemAllocFromPoolAsync_ptsz, "cuMemAllocFromPoolAsync", 11020, true),
        SY_ROW(cuMemFree_v2, "cuMemFree", 3020, false),
        SY_ROW(cuMemFreeAsync, "cuMemFreeAsync", 11020, false),
        SY_ROW(cuMemFreeAsync_ptsz, "cuMemFreeAsync", 11020, true),
        SY_ROW(cuMemCreate, "cuMemCreate", 10020, false),
        SY_ROW(cuMemRelease, "cuMemRelease", 10020, false),
        SY_ROW(cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", 11000, false),
        SY_ROW(cuMemMap, "cuMemMap", 10020, false),
        SY_ROW(cuMemUnmap, "cuMemUnmap", 10020, false),
        SY_ROW(cuArrayCreate_v2, "cuArrayCreate", 3020, false),
        SY_ROW(cuArray3DCreate_v2, "cuArray3DCreate", 3020, false),
        SY_ROW(cuMipmappedArrayCreate, "cuMipmappedArrayCreate", 5000, false),
        SY_ROW(cuArrayDestroy, "cuArrayDestroy", 2000, false),
        SY_ROW(cuMipmappedArrayDestroy, "cuMipmappedArrayDestroy", 5000, false),
        SY_ROW(cuCtxDestroy_v2, "cuCtxDestroy", 4000, false),
        SY_ROW(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000, false),
        SY_ROW(cuMemGetInfo_v2, "cuMemGetInfo", 3020, false),
        SY_ROW(cuDeviceTotalMem_v2, "cuDeviceTotalMem", 3020, false),
    };
    return {rows, sizeof(rows) / sizeof(rows[0])};
}

}  // namespace switchyard::guard
