#include "os/no_containment.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "os/processes.hpp"

namespace switchyard::os {
namespace {

bool has_children() {
    siginfo_t child{};
    return ::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
}

class NoContainment final : public Containment {
  public:
    explicit NoContainment(std::string place) : place_(std::move(place)) {}

    Status create(const StepKey& key, const StepLimits&) override {
        own_ = key;
        return {};
    }
    Result<Entrance> entrance(const StepKey&) override { return Entrance{}; }

    std::vector<pid_t> pids(const StepKey& key) override {
        // Whatever a task starts stays below its stepd, which is a subreaper: nobody there, nobody
        // left, and most steps end so. A look at all processes of the machine would cost more than
        // a short step does.
        if (own_ == key && !has_children()) return {};
        const std::vector<Process> all = list_processes();
        std::set<pid_t> found;
        // In the stepd that created the step, whatever descends from it is the step's.
        if (own_ == key) {
            for (const pid_t pid : descendants(all, ::getpid())) found.insert(pid);
        }
        const std::string marker = fmt::format("{}={}", kStepMarker, marker_of(place_, key));
        for (const Process& process : all) {
            if (process.state == 'Z' || process.pid == ::getpid()) continue;
            if (!has_environment(process.pid, marker)) continue;
            found.insert(process.pid);
            for (const pid_t pid : descendants(all, process.pid)) found.insert(pid);
        }
        return {found.begin(), found.end()};
    }

    // Stopped first, so that none of them forks while the others are being killed.
    void kill_all(const StepKey& key) override {
        signal_all(key, SIGSTOP);
        signal_all(key, SIGKILL);
    }

    Status set_frozen(const StepKey& key, bool frozen) override {
        signal_all(key, frozen ? SIGSTOP : SIGCONT);
        return {};
    }

    std::uint64_t oom_kills(const StepKey&) override { return 0; }

    MemoryUse memory_use(const StepKey& key) override {
        const std::uint64_t now = resident_bytes(pids(key));
        peak_ = std::max(peak_, now);
        return {.bytes = now, .peak_bytes = peak_};
    }

    Result<bool> remove(const StepKey&) override {
        own_.reset();
        return true;
    }
    std::vector<StepKey> existing() override { return {}; }
    bool limits_memory() const override { return false; }
    bool pins_cores() const override { return false; }

  private:
    std::string place_;
    std::optional<StepKey> own_;
    std::uint64_t peak_ = 0;
};

}  // namespace

std::string marker_of(const std::string& place, const StepKey& key) {
    return fmt::format("{}/{}.{}.{}", place, key.job.value, key.attempt.value, key.step.value);
}

std::unique_ptr<Containment> make_no_containment(const ContainmentPlan& plan) {
    return std::make_unique<NoContainment>(plan.place);
}

}  // namespace switchyard::os
