#include "agent/mps_daemons.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "gpu/shares.hpp"
#include "os/beneath.hpp"
#include "os/files.hpp"
#include "os/processes.hpp"
#include "os/spawn.hpp"

namespace switchyard::agent {
namespace {

constexpr Millis kPauseMin{200};
constexpr Millis kPauseMax{60000};
// At the end: how long a daemon and its server have to go by themselves.
constexpr Millis kPatience{2000}, kLook{20};
// An option of newer control daemons, for root: one server for the clients of all users. Without it
// the jobs of one user wait until those of another are over.
constexpr std::string_view kAllUsers = "-multiuser-server";

// There is no way to ask a control daemon what it knows; its program has the word in it or not.
bool serves_all_users(const std::string& program) {
    const auto text = os::read_file(program);
    return ::geteuid() == 0 && text && text->contains(kAllUsers.substr(1));
}

// A new one for each daemon: in one that users could write to, there may be a link where the
// daemon, who is root, writes its log.
Status make_fresh_folder(const std::string& path, mode_t mode) {
    const std::size_t slash = path.rfind('/');
    SY_TRY(const io::Fd above, os::open_folder(path.substr(0, slash)));
    SY_CHECK(os::remove_in(above.get(), path.substr(slash + 1)));
    if (::mkdir(path.c_str(), 0755) != 0) return os::errno_failure(path);
    if (::chmod(path.c_str(), mode) != 0) return os::errno_failure(path);
    return {};
}

}  // namespace

MpsDaemons::MpsDaemons(io::Loop& loop, std::string folder,
                       std::map<std::uint32_t, std::string> cards, const os::Log& log)
    : loop_(loop), folder_(std::move(folder)), log_(log) {
    for (auto& [device, name] : cards) daemons_[device].card = std::move(name);
}

std::string MpsDaemons::pid_file(std::uint32_t device) const {
    return fmt::format("{}/mps{}.pid", folder_, device);
}

void MpsDaemons::start() {
    for (const auto& [device, daemon] : daemons_) ensure(device);
}

// The server is a child of its daemon, and would be left over if the daemon alone were ended.
void MpsDaemons::stop() {
    std::vector<pid_t> family;
    const auto all = os::list_processes();
    for (auto& [device, daemon] : daemons_) {
        daemon.ended = {};
        daemon.again = {};
        ::unlink(pid_file(device).c_str());
        if (daemon.pid <= 0) continue;
        for (const pid_t server : os::descendants(all, daemon.pid)) family.push_back(server);
        family.push_back(std::exchange(daemon.pid, 0));
    }
    const auto signal = [&](int number) {
        for (const pid_t pid : family) ::kill(pid, number);
    };
    const auto live = [](pid_t pid) {
        const auto process = os::read_process(pid);
        return process && process->state != 'Z';
    };
    signal(SIGTERM);
    for (Millis waited{0}; waited < kPatience; waited += kLook) {
        std::erase_if(family, [&](pid_t pid) { return !live(pid); });
        if (family.empty()) return;
        ::usleep(static_cast<useconds_t>(kLook.count()) * 1000);
    }
    signal(SIGKILL);
}

bool MpsDaemons::owns(pid_t pid) const {
    return std::ranges::any_of(daemons_, [&](const auto& each) { return each.second.pid == pid; });
}

// The daemon of an earlier agent.
Result<pid_t> MpsDaemons::find(std::uint32_t device) const {
    SY_TRY(const std::string text, os::read_file(pid_file(device)));
    const auto pid = parse_uint(trim(text));
    if (!pid || *pid == 0) return fail(Errc::NotFound);
    SY_TRY(const std::string line, os::read_file(fmt::format("/proc/{}/cmdline", *pid)));
    struct stat facts{};
    const bool is_ours =
        ::stat(fmt::format("/proc/{}", *pid).c_str(), &facts) == 0 && facts.st_uid == ::geteuid();
    if (!is_ours || !line.contains(gpu::kMpsControl)) return fail(Errc::NotFound);
    return static_cast<pid_t>(*pid);
}

Result<pid_t> MpsDaemons::launch(std::uint32_t device, const Daemon& daemon) const {
    const std::string program = gpu::find_program(gpu::kMpsControl);
    if (program.empty()) return fail(Errc::NotFound, "nvidia-cuda-mps-control is not installed");
    const gpu::MpsFolders folders = gpu::mps_folders(folder_, device);
    const bool all_users = serves_all_users(program);
    // Clients of all users reach it, and servers that run as one of them write there.
    SY_CHECK(make_fresh_folder(folders.pipe, 01777));
    SY_CHECK(make_fresh_folder(folders.log, all_users ? 0755 : 01777));
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nothing) return os::errno_failure("/dev/null");
    os::SpawnRequest request;
    request.path = program;
    request.argv = {program, "-f"};
    if (all_users) {
        request.argv.emplace_back(kAllUsers);
    } else {
        log_.info(fmt::format("MPS of card {} serves one user at a time", device));
    }
    // Its server program lies beside it.
    request.environment = {fmt::format("PATH={}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin",
                                       program.substr(0, program.rfind('/'))),
                           "CUDA_VISIBLE_DEVICES=" + daemon.card,
                           "CUDA_MPS_PIPE_DIRECTORY=" + folders.pipe,
                           "CUDA_MPS_LOG_DIRECTORY=" + folders.log};
    // Where the driver's libraries are, on machines that say it so.
    if (const char* libraries = std::getenv("LD_LIBRARY_PATH"))
        request.environment.push_back(fmt::format("LD_LIBRARY_PATH={}", libraries));
    request.descriptors = {{nothing.get(), 0}, {nothing.get(), 1}, {nothing.get(), 2}};
    SY_TRY(const pid_t pid, os::spawn(request));
    ::unlink(pid_file(device).c_str());
    SY_CHECK(os::write_new_file(pid_file(device), fmt::format("{}\n", pid), 0644));
    return pid;
}

void MpsDaemons::ensure(std::uint32_t device) {
    Daemon& daemon = daemons_.at(device);
    auto pid = find(device);
    const bool is_found = bool(pid);
    if (!pid) pid = launch(device, daemon);
    auto process = pid ? os::open_pidfd(*pid) : Result<io::Fd>(Failure{pid.error()});
    if (!process) {
        log_.error(fmt::format("MPS of card {}: {}", device, process.error().message));
        return on_end(device);
    }
    daemon.pid = *pid;
    daemon.process = *std::move(process);
    daemon.ended = loop_.watch(daemon.process.get(), EPOLLIN,
                               [this, device](std::uint32_t) { on_end(device); });
    log_.info(fmt::format("MPS of card {}: {} (pid {})", device,
                          is_found ? "found again" : "started", daemon.pid));
}

// Again and again, with growing pauses: jobs of the card wait for it.
void MpsDaemons::on_end(std::uint32_t device) {
    Daemon& daemon = daemons_.at(device);
    if (daemon.pid != 0) log_.error(fmt::format("MPS of card {} has ended", device));
    daemon.pid = 0;
    daemon.ended = {};
    daemon.process.reset();
    daemon.pause = std::clamp(daemon.pause * 2, kPauseMin, kPauseMax);
    daemon.again = loop_.after(daemon.pause, [this, device] { ensure(device); });
}

}  // namespace switchyard::agent
