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
    NoContainment(std::string place, OwnerOf owner_of)
        : place_(std::move(place)), owner_of_(std::move(owner_of)) {}

    Status create(const StepKey& key, const StepLimits&) override {
        own_ = key;
        return {};
    }
    Result<Entrance> entrance(const StepKey&) override { return Entrance{}; }

    std::vector<pid_t> pids(const StepKey& key) override {
        std::vector<pid_t> found;
        for (const Process& process : find(key)) found.push_back(process.pid);
        return found;
    }

    void signal_all(const StepKey& key, int signal) override {
        for (const Process& process : find(key)) signal_process(process, signal);
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
    std::vector<Process> find(const StepKey& key) const {
        // Whatever a task starts stays below its stepd, which is a subreaper: nobody there, nobody
        // left, and most steps end so. A look at all processes of the machine would cost more than
        // a short step does.
        if (own_ == key && !has_children()) return {};
        const std::vector<Process> all = list_processes();
        std::set<pid_t> pids;
        // In the stepd that created the step, whatever descends from it is the step's.
        if (own_ == key) {
            for (const pid_t pid : descendants(all, ::getpid())) pids.insert(pid);
        }
        add_marked(key, all, pids);
        std::vector<Process> found;
        for (const Process& process : all) {
            if (pids.contains(process.pid)) found.push_back(process);
        }
        return found;
    }

    void add_marked(const StepKey& key, const std::vector<Process>& all,
                    std::set<pid_t>& pids) const {
        const std::optional<uid_t> owner = owner_of_ ? owner_of_(key) : std::nullopt;
        if (!owner) return;
        const std::string marker = fmt::format("{}={}", kStepMarker, marker_of(place_, key));
        for (const Process& process : all) {
            if (process.state == 'Z' || process.pid == ::getpid()) continue;
            if (!has_environment(process.pid, *owner, marker)) continue;
            pids.insert(process.pid);
            for (const pid_t pid : descendants(all, process.pid)) pids.insert(pid);
        }
    }

    std::string place_;
    OwnerOf owner_of_;
    std::optional<StepKey> own_;
    std::uint64_t peak_ = 0;
};

}  // namespace

std::string marker_of(const std::string& place, const StepKey& key) {
    return fmt::format("{}/{}.{}.{}", place, key.job.value, key.attempt.value, key.step.value);
}

std::unique_ptr<Containment> make_no_containment(const ContainmentPlan& plan, OwnerOf owner_of) {
    return std::make_unique<NoContainment>(plan.place, std::move(owner_of));
}

}  // namespace switchyard::os
