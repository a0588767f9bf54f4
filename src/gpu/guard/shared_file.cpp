#include "gpu/guard/shared_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

namespace switchyard::guard {

void* map_file(const char* path, std::size_t bytes, bool* shared) {
    *shared = false;
    const int fd = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        const auto wanted = static_cast<off_t>(bytes);
        const bool fits = lseek(fd, 0, SEEK_END) >= wanted || ftruncate(fd, wanted) == 0;
        void* at =
            fits ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
        close(fd);
        *shared = at != MAP_FAILED;
        if (*shared) return at;
    }
    void* own = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return own == MAP_FAILED ? nullptr : own;
}

std::uint64_t start_time(std::uint32_t pid) {
    char path[32], text[1024];
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (got <= 0) return 0;
    text[got] = '\0';
    // The name may hold anything; what follows its last parenthesis is the state and then numbers.
    const char* at = strrchr(text, ')');
    if (at == nullptr || at[1] == '\0' || at[2] == 'Z') return 0;
    for (int field = 2; at != nullptr && field < 22; ++field) at = strchr(at + 1, ' ');
    return at == nullptr ? 0 : strtoull(at + 1, nullptr, 10);
}

bool is_alive(std::uint32_t pid, std::uint64_t started) {
    if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return false;
    const std::uint64_t now = start_time(pid);
    // Another user's process may be hidden from us in /proc: then it counts as alive.
    if (now == 0) return kill(static_cast<pid_t>(pid), 0) != 0 && errno == EPERM;
    return started == 0 || now == started;
}

std::uint64_t now_ns() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
           static_cast<std::uint64_t>(t.tv_nsec);
}

}  // namespace switchyard::guard
