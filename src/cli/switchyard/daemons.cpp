#include "cli/switchyard/daemons.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/text.hpp"
#include "io/fd.hpp"
#include "os/files.hpp"
#include "os/host.hpp"
#include "os/processes.hpp"
#include "os/spawn.hpp"

namespace switchyard::cli {
namespace {

constexpr std::size_t kWordsMax = 4096;  // Of a daemon's complaint.

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> command_line(pid_t pid) {
    std::vector<std::string> words;
    const auto text = os::read_file(fmt::format("/proc/{}/cmdline", pid));
    if (!text) return words;
    for (const std::string_view word : split(*text, '\0')) words.emplace_back(word);
    return words;
}

bool has_option(const std::vector<std::string>& words, std::string_view option,
                const std::string& value) {
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        if (words[i] == option && words[i + 1] == value) return true;
    }
    return false;
}

bool matches(const std::vector<std::string>& words, const Daemon& daemon) {
    if (words.empty() || base_name(words.front()) != daemon.program) return false;
    if (!has_option(words, "-f", daemon.config)) return false;
    return daemon.node.empty() || has_option(words, "-N", daemon.node);
}

// The link of that name beside us or in ../sbin, so that ps shows the daemon's own name; else
// ourselves.
std::string program_path(const std::string& name) {
    const std::string folder = own_folder();
    for (const std::string& path : {folder + "/" + name, folder + "/../sbin/" + name}) {
        if (::access(path.c_str(), X_OK) == 0) return path;
    }
    return os::own_executable();
}

// What a shell inside a job, or a user's settings for commands, would make a daemon misread.
std::vector<std::string> daemon_environment() {
    std::vector<std::string> out;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const bool ours = text.starts_with("SLURM") || text.starts_with("SBATCH_") ||
                          text.starts_with("SALLOC_") || text.starts_with("SQUEUE_") ||
                          text.starts_with("SINFO_");
        if (!ours) out.emplace_back(text);
    }
    return out;
}

// All that a process writes until it ends or goes into the background, up to a limit.
std::string read_words(int fd) {
    std::string text;
    char buffer[1024];
    while (text.size() < kWordsMax) {
        const ssize_t n = ::read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        text.append(buffer, static_cast<std::size_t>(n));
    }
    return text;
}

// What was added to the log since `from`: the daemon's last words.
std::string read_log_from(const std::string& path, std::size_t from) {
    const auto text = os::read_file(path);
    if (!text || text->size() <= from) return {};
    const std::size_t begin = std::max(from, text->size() - std::min(text->size(), kWordsMax));
    return text->substr(begin);
}

std::size_t size_of_file(const std::string& path) {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 ? static_cast<std::size_t>(info.st_size) : 0;
}

bool somebody_answers(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) return false;
    path.copy(address.sun_path, path.size());
    const io::Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::connect(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

std::string own_folder() {
    char path[PATH_MAX];
    const ssize_t size = ::readlink(os::own_executable().c_str(), path, sizeof path);
    const std::string_view whole(path, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return std::string(whole.substr(0, std::min(whole.rfind('/'), whole.size())));
}

std::vector<Daemon> daemons_here(const config::Config& config) {
    std::vector<Daemon> out;
    const bool controller_here =
        config.controllers.empty() || os::is_this_host(config.controllers.front().host);
    if (controller_here) out.push_back({"slurmctld", "", config.path, config.controller_log});
    for (const model::NodeConfig& node : config.nodes) {
        const std::string& host = node.host_name.empty() ? node.name : node.host_name;
        if (os::is_this_host(host))
            out.push_back(
                {"slurmd", node.name, config.path, config.expand(config.agent_log, node.name)});
    }
    return out;
}

std::optional<pid_t> find_daemon(const Daemon& daemon) {
    for (const os::Process& process : os::list_processes()) {
        if (process.state != 'Z' && matches(command_line(process.pid), daemon)) return process.pid;
    }
    return std::nullopt;
}

Status start_daemon(const Daemon& daemon) {
    // Its standard error goes to a file without a name: a pipe would stay open as long as anything
    // in the background holds it.
    const io::Fd words(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nothing) return os::errno_failure("/dev/null");
    const int complaints = words ? words.get() : nothing.get();

    os::SpawnRequest request;
    request.path = program_path(daemon.program);
    request.argv = {daemon.program, "-f", daemon.config};
    if (!daemon.node.empty()) request.argv.insert(request.argv.end(), {"-N", daemon.node});
    request.environment = daemon_environment();
    request.descriptors = {{nothing.get(), 0}, {nothing.get(), 1}, {complaints, 2}};
    const std::size_t log_size = size_of_file(daemon.log);
    SY_TRY(const pid_t pid, os::spawn(request));

    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    ::lseek(complaints, 0, SEEK_SET);
    std::string said(trim(read_words(complaints)));
    if (said.empty()) said = trim(read_log_from(daemon.log, log_size));
    return fail(Errc::Internal, fmt::format("{} did not start{}{}", daemon.title(),
                                            said.empty() ? "" : ": ", said));
}

Status stop_daemon(const Daemon& daemon, pid_t pid, Millis patience) {
    const auto handle = os::open_pidfd(pid);
    if (!handle) return {};  // Gone already.
    for (const int signal : {SIGTERM, SIGKILL}) {
        if (::kill(pid, signal) != 0 && errno != ESRCH) {
            return fail(Errc::Io, fmt::format("{} (process {}): {}", daemon.title(), pid,
                                              std::strerror(errno)));
        }
        pollfd watched{handle->get(), POLLIN, 0};
        if (::poll(&watched, 1, static_cast<int>(patience.count())) > 0) return {};
    }
    return fail(Errc::Timeout, fmt::format("{} (process {}) does not end", daemon.title(), pid));
}

std::size_t count_steps(const config::Config& config) {
    std::size_t count = 0;
    for (const Daemon& daemon : daemons_here(config)) {
        if (daemon.node.empty()) continue;
        const std::string spool = config.spool_for(daemon.node);
        const auto names = os::list_folder(spool);
        if (!names) continue;
        count += static_cast<std::size_t>(
            std::ranges::count_if(*names, [&spool](const std::string& name) {
                return name.ends_with(".sock") && somebody_answers(spool + "/" + name);
            }));
    }
    return count;
}

}  // namespace switchyard::cli
