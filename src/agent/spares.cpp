#include "agent/spares.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "model/step.hpp"
#include "os/descriptors.hpp"
#include "os/files.hpp"
#include "os/spawn.hpp"
#include "stepd/main.hpp"

namespace switchyard::agent {
namespace {

constexpr std::size_t kIdleMax = 16;    // More than that end when their step does.
constexpr Millis kRefillAfter{300};     // Of quiet: not while jobs come one after the other.
constexpr Millis kTrimAfter{30'000};    // All but one of those that waited so long end.
constexpr std::size_t kTitleRoom = 40;  // For the name of a step in the process table.

std::vector<std::string> stepd_environment() {
    std::vector<std::string> environment = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
    // So that times in a job's output are in the same zone as in the agent's log, and that the
    // drivers of cards are found where the agent found them.
    for (const char* name : {"TZ", "LD_LIBRARY_PATH"}) {
        if (const char* value = std::getenv(name); value != nullptr)
            environment.push_back(fmt::format("{}={}", name, value));
    }
    return environment;
}

}  // namespace

Spares::Spares(io::Loop& loop) : loop_(loop) {}

void Spares::set_place(std::string node, std::string spool) {
    node_ = std::move(node);
    spool_ = std::move(spool);
}

bool Spares::owns(pid_t pid) const {
    return std::ranges::find(stepds_, pid, &Stepd::pid) != stepds_.end();
}

Result<pid_t> Spares::start(const StepKey& key, const io::Fd& channel, const io::Fd& listener) {
    const std::string title = model::to_string(key);
    const std::array<int, 2> descriptors{channel.get(), listener.get()};
    while (idle_ > 0) {
        const auto spare = stepds_.begin();
        spare->idle = false;
        --idle_;
        stepds_.splice(stepds_.end(), stepds_, spare);
        if (os::send_packet(spare->leash.get(), title, descriptors)) {
            if (idle_ == 0) keep_one_ready();
            return spare->pid;
        }
        // It died while it waited; its leash says so soon.
    }
    keep_one_ready();
    return spawn(title, &channel, &listener);
}

void Spares::keep_one_ready() {
    refill_ = loop_.after(kRefillAfter, [this] {
        if (idle_ == 0) (void)spawn("idle", nullptr, nullptr);
    });
}

Result<pid_t> Spares::spawn(const std::string& title, const io::Fd* channel,
                            const io::Fd* listener) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return os::errno_failure("socketpair");
    io::Fd leash(pair[0]);
    const io::Fd theirs(pair[1]);
    const io::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!nothing) return os::errno_failure("/dev/null");

    os::SpawnRequest request;
    request.path = os::own_executable();
    // Said to people who look at the process table: which step, which node, whose spool. The step
    // changes.
    request.argv = {"slurmstepd", fmt::format("{:<{}}", title, kTitleRoom), node_, spool_};
    request.environment = stepd_environment();
    // Standard error stays the agent's log; the terminal of a foreground agent is none of a
    // stepd's.
    request.descriptors = {{nothing.get(), 0}, {nothing.get(), 1}, {theirs.get(), stepd::kLeash}};
    if (channel != nullptr) request.descriptors.emplace_back(channel->get(), stepd::kAgentSocket);
    if (listener != nullptr) request.descriptors.emplace_back(listener->get(), stepd::kListener);
    SY_TRY(const pid_t pid, os::spawn(request));

    const auto made = stepds_.emplace(stepds_.end());
    made->pid = pid;
    made->leash = std::move(leash);
    made->watch =
        loop_.watch(made->leash.get(), EPOLLIN, [this, made](std::uint32_t) { on_leash(made); });
    return pid;
}

// It is free for a next step, or gone.
void Spares::on_leash(std::list<Stepd>::iterator stepd) {
    const auto packet = os::receive_packet(stepd->leash.get());
    if (!packet || idle_ >= kIdleMax || stepd->outdated) {
        if (stepd->idle) --idle_;
        stepds_.erase(stepd);
        return;
    }
    if (stepd->idle) return;
    stepd->idle = true;
    ++idle_;
    stepds_.splice(stepds_.begin(), stepds_, stepd);
    if (!trim_) trim_ = loop_.after(kTrimAfter, [this] { trim(); });
}

void Spares::renew() {
    for (; idle_ > 0; --idle_) stepds_.pop_front();
    for (Stepd& stepd : stepds_) stepd.outdated = true;
    keep_one_ready();
}

void Spares::trim() {
    for (; idle_ > 1; --idle_) stepds_.erase(std::next(stepds_.begin()));
}

}  // namespace switchyard::agent
