// guard_probe.cpp: a small CUDA program for the tests of the guard. Its arguments are what it does,
// in order; it prints one line for each.
//
//   dlsym | proc         find functions by dlsym, or by cuGetProcAddress as the CUDA runtime does
//   info                 free and total memory in MiB, and what the device has in all
//   alloc N, async N     allocate N MiB; says "ok" or the error
//   create N             physical memory, mapped and its handle released at once
//   unmap                undo the last create
//   free                 free the last allocation
//   reset                reset the primary context
//   hold                 wait until standard input ends
//   launch MS            launch kernels for so long; says how many
//   burst N              launch N, synchronise, say how many microseconds it took
//   sleep MS
//   die                  kill itself
#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "gpu/guard/cuda_abi.hpp"

namespace switchyard::guard {

namespace {

void* library = nullptr;
bool by_proc = false;

template <class F>
F find(const char* symbol, const char* base) {
    void* found = nullptr;
    if (by_proc) {
        using Ask = Result (*)(const char*, void**, int, unsigned long long, int*);
        const auto ask = reinterpret_cast<Ask>(::dlsym(library, "cuGetProcAddress_v2"));
        int status = 0;
        ask(base, &found, 12000, 0, &status);
    } else {
        found = ::dlsym(library, symbol);
    }
    return reinterpret_cast<F>(found);
}

double now_us() {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
}

void say(const char* what, Result result) {
    if (result == kCudaSuccess) {
        std::printf("%s ok\n", what);
    } else {
        std::printf("%s error %d\n", what, result);
    }
}

std::vector<DevicePointer> held;

void allocate(const std::string& what, std::size_t bytes) {
    DevicePointer at = 0;
    Result result = kCudaSuccess;
    if (what == "alloc") {
        result = find<Result (*)(DevicePointer*, std::size_t)>("cuMemAlloc_v2", "cuMemAlloc")(
            &at, bytes);
    } else if (what == "async") {
        result = find<Result (*)(DevicePointer*, std::size_t, Stream)>(
            "cuMemAllocAsync", "cuMemAllocAsync")(&at, bytes, nullptr);
    } else {
        const MemoryProperties properties{1, 0, {kLocationDevice, 0}};
        using Create =
            Result (*)(MemoryHandle*, std::size_t, const MemoryProperties*, unsigned long long);
        using Map =
            Result (*)(DevicePointer, std::size_t, std::size_t, MemoryHandle, unsigned long long);
        MemoryHandle handle = 0;
        result = find<Create>("cuMemCreate", "cuMemCreate")(&handle, bytes, &properties, 0);
        if (result == kCudaSuccess) {
            find<Map>("cuMemMap", "cuMemMap")(4096, bytes, 0, handle, 0);
            find<Result (*)(MemoryHandle)>("cuMemRelease", "cuMemRelease")(handle);
        }
    }
    if (result == kCudaSuccess) held.push_back(at);
    say(what.c_str(), result);
}

void show_memory() {
    std::size_t left = 0, all = 0, device = 0;
    find<Result (*)(std::size_t*, std::size_t*)>("cuMemGetInfo_v2", "cuMemGetInfo")(&left, &all);
    find<Result (*)(std::size_t*, DeviceNumber)>("cuDeviceTotalMem_v2", "cuDeviceTotalMem")(&device,
                                                                                            0);
    std::printf("info %zu of %zu device %zu\n", left >> 20, all >> 20, device >> 20);
}

using Launch = Result (*)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, Stream, void**, void**);

void launch_for(double us) {
    const auto launch = find<Launch>("cuLaunchKernel", "cuLaunchKernel");
    const auto wait = find<Result (*)()>("cuCtxSynchronize", "cuCtxSynchronize");
    const double end = now_us() + us;
    int count = 0;
    while (now_us() < end) {
        // Synchronised now and then, as a training loop is.
        for (int i = 0; i < 8; ++i) launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
        wait();
        count += 8;
    }
    std::printf("launched %d\n", count);
}

void burst(int count) {
    const auto launch = find<Launch>("cuLaunchKernel", "cuLaunchKernel");
    const double began = now_us();
    for (int i = 0; i < count; ++i) {
        launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    }
    find<Result (*)()>("cuCtxSynchronize", "cuCtxSynchronize")();
    std::printf("burst %.0f\n", now_us() - began);
}

}  // namespace

void run_words(int argc, char** argv) {
    library = ::dlopen("libcuda.so.1", RTLD_LAZY);
    if (library == nullptr) std::exit(1);
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto number = [&] {
            return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0;
        };
        if (word == "dlsym" || word == "proc") by_proc = word == "proc";
        if (word == "info") show_memory();
        if (word == "alloc" || word == "async" || word == "create") allocate(word, number() << 20);
        if (word == "unmap") {
            say("unmap", find<Result (*)(DevicePointer, std::size_t)>("cuMemUnmap", "cuMemUnmap")(
                             4096, 1u << 20));
        }
        if (word == "free") {
            say("free", find<Result (*)(DevicePointer)>("cuMemFree_v2", "cuMemFree")(held.back()));
            held.pop_back();
        }
        if (word == "reset") {
            say("reset", find<Result (*)(DeviceNumber)>("cuDevicePrimaryCtxReset_v2",
                                                        "cuDevicePrimaryCtxReset")(0));
        }
        if (word == "launch") launch_for(static_cast<double>(number()) * 1e3);
        if (word == "burst") burst(static_cast<int>(number()));
        if (word == "sleep") ::usleep(static_cast<unsigned>(number()) * 1000);
        std::fflush(stdout);
        if (word == "hold") {
            while (std::getchar() != EOF) {
            }
        }
        if (word == "die") ::kill(::getpid(), SIGKILL);
    }
}

}  // namespace switchyard::guard

int main(int argc, char** argv) {
    switchyard::guard::run_words(argc, argv);
    return 0;
}
