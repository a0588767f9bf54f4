#include "gpu/guard/shared_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

namespace switchyard::guard {
namespace {

constexpr time_t kAnswerSecondsMax = 5;  // Then this process does without.

// A path that is too long for an address is reached through its open folder.
bool fill_address(const char* path, sockaddr_un* to, int* folder) {
    to->sun_family = AF_UNIX;
    const std::size_t length = strlen(path);
    if (length < sizeof(to->sun_path)) {
        memcpy(to->sun_path, path, length + 1);
        return true;
    }
    const char* slash = strrchr(path, '/');
    char above[4096];
    if (slash == nullptr || static_cast<std::size_t>(slash - path) >= sizeof(above)) return false;
    memcpy(above, path, static_cast<std::size_t>(slash - path));
    above[slash - path] = '\0';
    *folder = open(above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (*folder < 0) return false;
    const int wanted =
        snprintf(to->sun_path, sizeof(to->sun_path), "/proc/self/fd/%d%s", *folder, slash);
    return wanted > 0 && static_cast<std::size_t>(wanted) < sizeof(to->sun_path);
}

int receive_descriptor(int socket) {
    char text[64];
    iovec piece{text, sizeof(text)};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0) return -1;
    const cmsghdr* head = CMSG_FIRSTHDR(&message);
    if (head == nullptr || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
        return -1;
    int fd = -1;
    memcpy(&fd, CMSG_DATA(head), sizeof(fd));
    return fd;
}

int ask_for_descriptor(const char* path) {
    sockaddr_un address{};
    int folder = -1, fd = -1;
    const int asking = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const timeval patience{kAnswerSecondsMax, 0};
    setsockopt(asking, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    setsockopt(asking, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (asking >= 0 && fill_address(path, &address, &folder) &&
        connect(asking, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
        fd = receive_descriptor(asking);
    if (folder >= 0) close(folder);
    if (asking >= 0) close(asking);
    return fd;
}

int open_shared(const char* path) {
    struct stat facts{};
    if (path == nullptr || stat(path, &facts) != 0) return -1;
    return S_ISSOCK(facts.st_mode) ? ask_for_descriptor(path) : open(path, O_RDWR | O_CLOEXEC);
}

}  // namespace

void* map_file(const char* path, std::size_t bytes, bool* shared) {
    *shared = false;
    const int fd = open_shared(path);
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
