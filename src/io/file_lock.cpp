#include "io/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "base/text.hpp"
#include "base/time.hpp"
#include "io/fd.hpp"

namespace switchyard::io {
namespace {

constexpr Millis kInheritedMax{10000};  // A machine under load may take long to start a program.
constexpr Millis kPause{5};

// Dead and not yet waited for is dead.
bool is_alive(std::string_view pid) {
    const Fd file(::open(("/proc/" + std::string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return false;
    char text[512] = {};
    if (::read(file.get(), text, sizeof text - 1) <= 0) return false;
    // "12 (a name) S ...": the name may hold anything, so count from its last bracket.
    const char* bracket = std::strrchr(text, ')');
    return bracket == nullptr || std::string_view(bracket).substr(0, 3) != ") Z";
}

bool has_living_holder(int fd) {
    char text[32] = {};
    if (::pread(fd, text, sizeof text - 1, 0) < 0) return true;
    const std::string_view pid = trim(text);
    return !pid.empty() && is_alive(pid);
}

}  // namespace

bool lock_alone(int fd) {
    const auto patience = std::chrono::steady_clock::now() + kInheritedMax;
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (has_living_holder(fd) || std::chrono::steady_clock::now() > patience) return false;
        std::this_thread::sleep_for(kPause);
    }
    return true;
}

}  // namespace switchyard::io
