#include "os/machine.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.hpp"
#include "os/files.hpp"

namespace switchyard::os {
namespace {

constexpr std::uint64_t kBytesPerMiB = 1024 * 1024;
constexpr std::uint64_t kKiBPerMiB = 1024;

// A line of /proc/meminfo, "MemTotal:  24683760 kB".
model::MiB meminfo(std::string_view key) {
    const auto text = read_file("/proc/meminfo");
    if (!text) return {};
    for (const std::string_view line : split(*text, '\n')) {
        if (!line.starts_with(key)) continue;
        std::string_view rest = trim(line.substr(key.size()));
        rest = rest.substr(0, rest.find(' '));
        return model::MiB{parse_uint(rest).value_or(0) / kKiBPerMiB};
    }
    return {};
}

}  // namespace

std::string host_name() {
    char name[256] = {};
    if (::gethostname(name, sizeof name - 1) != 0) return "localhost";
    const std::string full = name;
    return full.substr(0, full.find('.'));
}

std::string architecture() {
    utsname facts{};
    ::uname(&facts);
    return facts.machine;
}

std::string operating_system() {
    utsname facts{};
    ::uname(&facts);
    return fmt::format("{} {} {}", facts.sysname, facts.release, facts.version);
}

double load_average() {
    double load = 0;
    return ::getloadavg(&load, 1) == 1 ? load : 0;
}

model::MiB total_memory() { return meminfo("MemTotal:"); }
model::MiB free_memory() { return meminfo("MemFree:"); }

model::MiB disk_size(const std::string& path) {
    struct statvfs facts{};
    if (::statvfs(path.c_str(), &facts) != 0) return {};
    return model::MiB{facts.f_blocks * facts.f_frsize / kBytesPerMiB};
}

Instant booted_at() {
    timespec up{};
    ::clock_gettime(CLOCK_BOOTTIME, &up);
    return std::chrono::floor<Seconds>(now() - Seconds{up.tv_sec});
}

Instant now() { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }

}  // namespace switchyard::os
