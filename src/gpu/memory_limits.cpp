#include "gpu/memory_limits.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "gpu/nvml_abi.hpp"

namespace switchyard::gpu {

using nvml::Device;
using nvml::Return;

struct MemoryLimits::Library {
    Return (*shutdown)() = nullptr;
    const char* (*error_string)(Return) = nullptr;
    Return (*by_uuid)(const char*, Device*) = nullptr;
    Return (*set)(Device, nvml::SetMemoryLimits*) = nullptr;
    Return (*get)(Device, nvml::GetMemoryLimits*) = nullptr;

    Failure failure(const std::string& card, const std::string& cgroup, Return code) const {
        const char* words = error_string == nullptr ? "NVML failed" : error_string(code);
        return fail(Errc::Unsupported,
                    fmt::format("memory limit of {} for {}: {}", card, cgroup, words));
    }
};

namespace {

template <class F>
bool resolve(void* handle, F& into, const char* name) {
    into = reinterpret_cast<F>(::dlsym(handle, name));
    return into != nullptr;
}

}  // namespace

MemoryLimits::MemoryLimits(MemoryLimits&& other) noexcept
    : library_(std::exchange(other.library_, nullptr)) {}

MemoryLimits::~MemoryLimits() {
    if (library_ == nullptr) return;
    library_->shutdown();
    delete library_;
}

Result<MemoryLimits> MemoryLimits::open(const std::string& path) {
    void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return fail(Errc::NotFound, fmt::format("NVML: {}", ::dlerror()));
    auto library = std::make_unique<Library>();
    Return (*init)() = nullptr;
    const bool complete = resolve(handle, init, "nvmlInit_v2") &&
                          resolve(handle, library->shutdown, "nvmlShutdown") &&
                          resolve(handle, library->error_string, "nvmlErrorString") &&
                          resolve(handle, library->by_uuid, "nvmlDeviceGetHandleByUUID") &&
                          resolve(handle, library->set, "nvmlDeviceSetMemoryLimits_v1") &&
                          resolve(handle, library->get, "nvmlDeviceGetMemoryLimits_v1");
    if (!complete) {
        return fail(Errc::Unsupported,
                    fmt::format("NVML: {} knows no memory limits (r615 and later do)", path));
    }
    if (const Return code = init(); code != nvml::kSuccess)
        return fail(Errc::Unsupported, fmt::format("NVML: {}", library->error_string(code)));
    return MemoryLimits(library.release());
}

Result<std::uint64_t> MemoryLimits::get(const std::string& card, const std::string& cgroup) const {
    Device device = nullptr;
    nvml::GetMemoryLimits limits{cgroup.c_str(), 0, 0, 0};
    Return code = library_->by_uuid(card.c_str(), &device);
    if (code == nvml::kSuccess) code = library_->get(device, &limits);
    if (code != nvml::kSuccess) return library_->failure(card, cgroup, code);
    return limits.hard;
}

Status MemoryLimits::set(const std::string& card, const std::string& cgroup,
                         std::uint64_t bytes) const {
    Device device = nullptr;
    // No soft limit: memory that was guaranteed to one cgroup would be reserved on all above it.
    nvml::SetMemoryLimits limits{cgroup.c_str(), 0, bytes};
    Return code = library_->by_uuid(card.c_str(), &device);
    if (code == nvml::kSuccess) code = library_->set(device, &limits);
    if (code != nvml::kSuccess) return library_->failure(card, cgroup, code);
    SY_TRY(const std::uint64_t kept, get(card, cgroup));
    if (kept <= bytes) return {};
    return fail(Errc::Unsupported, fmt::format("memory limit of {} for {}: set to {} but is {}",
                                               card, cgroup, bytes, kept));
}

bool limits_all(const std::vector<Card>& cards, const std::string& cgroup,
                const std::string& library) {
    if (cards.empty() || cgroup.empty() || ::geteuid() != 0) return false;
    const auto limits = MemoryLimits::open(library);
    if (!limits) return false;
    return std::ranges::all_of(
        cards, [&](const Card& card) { return !card.mig && bool(limits->get(card.uuid, cgroup)); });
}

}  // namespace switchyard::gpu
