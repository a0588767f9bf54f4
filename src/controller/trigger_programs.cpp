#include "controller/trigger_programs.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.hpp"
#include "os/child.hpp"
#include "os/spawn.hpp"

namespace switchyard::controller {
namespace {

constexpr std::size_t kAtOnceMax = 32;
constexpr std::size_t kWaitingMax = 10'000;
constexpr Seconds kRunTimeMax{300};

}  // namespace

void TriggerPrograms::run(const core::effect::RunTrigger& order, const std::string& config_path) {
    log_.about(Log::Topic::Triggers, "trigger {} of uid={}: {} {}", order.trigger.id,
               order.trigger.uid, order.trigger.program, order.argument);
    if (queue_.size() >= kWaitingMax) {
        log_.error("too many programs of triggers wait: {} of uid={} is not run",
                   order.trigger.program, order.trigger.uid);
        return;
    }
    if (running_.size() >= kAtOnceMax) {
        queue_.push_back({order, config_path});
    } else {
        start({order, config_path});
    }
}

void TriggerPrograms::start(const Run& run) {
    const model::Trigger& trigger = run.order.trigger;
    os::ChildPlan plan;
    for (const std::string_view word : split(trigger.program, ' ')) {
        if (!word.empty()) plan.argv.emplace_back(word);
    }
    plan.programs = {plan.argv.front()};
    if (!run.order.argument.empty()) plan.argv.push_back(run.order.argument);
    plan.environment = {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
                        "USER=" + trigger.user, "LOGNAME=" + trigger.user,
                        "SLURM_CONF=" + run.config_path};
    plan.who = {trigger.uid, trigger.gid, {}};
    for (const std::uint32_t group : users_.groups_of(trigger.uid, trigger.gid))
        plan.who.groups.push_back(group);
    plan.work_dir = "/tmp";
    const auto pid = os::start_child(std::move(plan));
    if (!pid) {
        log_.error("trigger {} of uid={}: {}: {}", trigger.id, trigger.uid, trigger.program,
                   pid.error().message);
        return;
    }
    Running& entry = running_[*pid];
    entry.trigger = trigger.id;
    if (auto process = os::open_pidfd(*pid)) entry.process = *std::move(process);
    entry.watch = loop_.watch(entry.process.get(), EPOLLIN,
                              [this, id = *pid](std::uint32_t) { on_exit(id); });
    entry.deadline = loop_.after(kRunTimeMax, [this, id = *pid] {
        log_.error("trigger {}: its program takes too long and is killed", running_[id].trigger);
        ::kill(-id, SIGKILL);  // It leads a session of its own.
    });
}

void TriggerPrograms::on_exit(pid_t pid) {
    int status = 0;
    if (::waitpid(pid, &status, WNOHANG) == 0) return;
    if (status != 0)
        log_.info("trigger {}: its program ended with wait status {}", running_[pid].trigger,
                  status);
    running_.erase(pid);
    if (queue_.empty()) return;
    const Run next = std::move(queue_.front());
    queue_.pop_front();
    start(next);
}

}  // namespace switchyard::controller
