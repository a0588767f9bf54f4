#include "stepd/hosts.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <set>

#include "base/text.hpp"
#include "os/files.hpp"

namespace switchyard::stepd {
namespace {

std::set<std::string, std::less<>> names_in(std::string_view hosts_file) {
    std::set<std::string, std::less<>> names;
    for (std::string_view line : split(hosts_file, '\n')) {
        line = line.substr(0, line.find('#'));
        std::string spaced(line);
        for (char& c : spaced) {
            if (c == '\t') c = ' ';
        }
        bool first = true;
        for (const std::string_view word : split(spaced, ' ')) {
            if (word.empty()) continue;
            if (!std::exchange(first, false)) names.emplace(word);
        }
    }
    return names;
}

// A user namespace in which we are still the same user, only with the right to mount.
Status enter_user_namespace() {
    const auto uid = ::getuid();
    const auto gid = ::getgid();
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return os::errno_failure("user namespace");
    SY_CHECK(os::write_file("/proc/self/setgroups", "deny"));
    SY_CHECK(os::write_file("/proc/self/uid_map", fmt::format("{} {} 1", uid, uid)));
    return os::write_file("/proc/self/gid_map", fmt::format("{} {} 1", gid, gid));
}

Status enter_mount_namespace() {
    if (::geteuid() != 0) return enter_user_namespace();
    if (::unshare(CLONE_NEWNS) != 0) return os::errno_failure("mount namespace");
    return {};
}

}  // namespace

bool is_numeric(const std::string& address) {
    unsigned char bytes[sizeof(in6_addr)];
    return ::inet_pton(AF_INET, address.c_str(), bytes) == 1 ||
           ::inet_pton(AF_INET6, address.c_str(), bytes) == 1;
}

std::optional<std::string> extended_hosts(std::string_view present,
                                          const std::vector<HostName>& hosts, bool pretend) {
    const auto known = names_in(present);
    std::string text;
    for (const HostName& host : hosts) {
        if (known.contains(host.name)) continue;
        const bool loopback = host.address.starts_with("127.") || host.address == "::1";
        if (is_numeric(host.address) && (pretend || !loopback)) {
            text += fmt::format("{} {}\n", host.address, host.name);
        } else if (pretend) {
            text += fmt::format("127.0.0.1 {}\n", host.name);
        }
    }
    if (text.empty()) return std::nullopt;
    const bool complete = present.empty() || present.ends_with('\n');
    return fmt::format("{}{}{}", present, complete ? "" : "\n", text);
}

Status mount_hosts(const std::string& text, const std::string& scratch_folder) {
    const std::string file = fmt::format("{}/hosts.{}", scratch_folder, ::getpid());
    SY_CHECK(os::write_new_file(file, text, 0644));
    const auto mount = [&]() -> Status {
        SY_CHECK(enter_mount_namespace());
        // What the host mounts later still comes in; what is mounted here does not go out.
        if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
            return os::errno_failure("mount /");
        if (::mount(file.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0) {
            return os::errno_failure("mount /etc/hosts");
        }
        return {};
    };
    const Status done = mount();
    ::unlink(file.c_str());
    return done;
}

}  // namespace switchyard::stepd
