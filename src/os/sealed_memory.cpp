#include "os/sealed_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "os/files.hpp"
#include "os/processes.hpp"

namespace switchyard::os {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// Newer kernels want to be told that nobody is to run it; older ones do not know the word.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

int make_memory(const std::string& name) {
    constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    const int fd = ::memfd_create(name.c_str(), kFlags | MFD_NOEXEC_SEAL);
    return fd >= 0 || errno != EINVAL ? fd : ::memfd_create(name.c_str(), kFlags);
}

bool is_sealed_and_ours(int fd, std::size_t bytes) {
    struct stat facts{};
    const int seals = ::fcntl(fd, F_GET_SEALS);
    return seals >= 0 && ::fstat(fd, &facts) == 0 && facts.st_uid == ::geteuid() &&
           static_cast<std::size_t>(facts.st_size) == bytes && (seals & kSeals) == kSeals;
}

std::string target_of(const std::string& link) {
    std::array<char, 256> target;
    const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
    return {target.data(), length > 0 ? static_cast<std::size_t>(length) : 0};
}

}  // namespace

Result<io::Fd> make_sealed_memory(const std::string& name, std::size_t bytes) {
    io::Fd memory(make_memory(name));
    if (!memory || ::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0 ||
        ::fcntl(memory.get(), F_ADD_SEALS, kSeals) != 0)
        return errno_failure(name);
    return memory;
}

Result<io::Fd> open_sealed_memory(const std::string& path, std::size_t bytes) {
    io::Fd memory(::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
    if (!memory) return errno_failure(path);
    if (is_sealed_and_ours(memory.get(), bytes)) return memory;
    return fail(Errc::InvalidArgument, path + " is no sealed memory of ours");
}

Result<io::Fd> find_sealed_memory(const std::string& name, std::size_t bytes) {
    const std::string target = fmt::format("/memfd:{} (deleted)", name);
    for (const Process& process : list_processes()) {
        if (user_of(process.pid) != ::geteuid()) continue;
        const std::string folder = fmt::format("/proc/{}/fd", process.pid);
        const auto names = list_folder(folder);
        if (!names) continue;
        for (const std::string& each : *names) {
            const std::string link = folder + "/" + each;
            if (target_of(link) != target) continue;
            if (auto memory = open_sealed_memory(link, bytes)) return memory;
        }
    }
    return fail(Errc::NotFound, name);
}

}  // namespace switchyard::os
