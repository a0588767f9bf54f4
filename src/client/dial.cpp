#include "client/dial.hpp"

#include <dirent.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

namespace switchyard::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Millis kFirstPause{2};
constexpr Millis kLongestPause{100};

// The sockets of the agents of this host: "agent-<node>.sock".
std::vector<std::string> agent_sockets(const std::string& run_dir) {
    std::vector<std::string> paths;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(run_dir.c_str()), ::closedir);
    if (!folder) return paths;
    while (const dirent* entry = ::readdir(folder.get())) {
        const std::string_view name = entry->d_name;
        if (name.starts_with("agent-") && name.ends_with(".sock"))
            paths.push_back(run_dir + "/" + std::string(name));
    }
    std::ranges::sort(paths);
    return paths;
}

// The error is that of the controller's own socket.
Result<wire::FrameSocket> attempt(const Whereabouts& where) {
    Result<wire::FrameSocket> controller =
        wire::FrameSocket::connect_unix(where.controller_socket, wire::kClientToController);
    if (controller) return controller;
    for (const std::string& path : agent_sockets(where.run_dir)) {
        Result<wire::FrameSocket> agent =
            wire::FrameSocket::connect_unix(path, wire::kClientToController);
        if (agent) return agent;
    }
    return controller;
}

// A controller that has written its pid file but does not listen yet (or not any more).
bool is_starting(const std::string& pid_file) {
    std::ifstream file(pid_file);
    pid_t pid = 0;
    return file >> pid && pid > 0 && (::kill(pid, 0) == 0 || errno == EPERM);
}

}  // namespace

Whereabouts whereabouts(const config::Config& config) {
    return {.controller_socket = config.controller_socket(),
            .run_dir = config.run_dir,
            .controller_pid_file = config.controller_pid_file};
}

Result<wire::FrameSocket> dial(const Whereabouts& where, Millis patience) {
    const auto deadline = Clock::now() + patience;
    for (Millis pause = kFirstPause;; pause = std::min(pause * 2, kLongestPause)) {
        Result<wire::FrameSocket> made = attempt(where);
        if (made) return made;
        const Errc why = made.error().code;
        if (why == Errc::AccessDenied || why == Errc::InvalidArgument) return made;
        // Refused: the file of its socket is there, as after a kill.
        const bool may_come_back =
            why == Errc::Unreachable || is_starting(where.controller_pid_file);
        if (!may_come_back || Clock::now() >= deadline) return fail(Errc::Unreachable);
        std::this_thread::sleep_for(pause);
    }
}

}  // namespace switchyard::client
