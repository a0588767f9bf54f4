// stepd_orders.cpp: what a stepd is told while its tasks run, and what the clock tells it.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "model/time_format.hpp"
#include "os/machine.hpp"
#include "stepd/stepd.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::stepd {
namespace {

constexpr Millis kMemoryLook{500};
// An srun that gives up so close to the time limit was ended by it, whosever clock is ahead.
constexpr Millis kClockSkew{1000};
// How long after KillWait an srun may take to say what became of its step: it gives up itself
// before.
constexpr Seconds kLastWordsMax{3};

const char* cause_words(model::EndCause cause, bool at_once) {
    switch (cause) {
        case model::EndCause::Finished:
            return nullptr;
        case model::EndCause::Cancelled:
            return at_once ? "DUE to SIGNAL Killed" : "DUE to SIGNAL Terminated";
        case model::EndCause::TimeLimit:
            return "DUE TO TIME LIMIT";
        case model::EndCause::NodeFailed:
            return "DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS";
        case model::EndCause::Preempted:
            return "DUE TO PREEMPTION";
        case model::EndCause::Requeued:
            return "DUE TO JOB REQUEUE";
        case model::EndCause::TaskFailed:
            return "DUE TO TASK FAILURE";
    }
    return nullptr;
}

}  // namespace

std::string end_message(const StepKey& key, const std::string& node, model::EndCause cause,
                        bool at_once, Instant now) {
    const char* words = cause_words(cause, at_once);
    if (words == nullptr) return {};
    const std::string what = key.step == kBatchStep ? fmt::format("JOB {}", key.job.value)
                                                    : fmt::format("STEP {}", model::to_string(key));
    return fmt::format("*** {} ON {} CANCELLED AT {} {} ***", what, node,
                       model::format_instant(now), words);
}

// To the processes that this stepd started: the batch shell, or the tasks of the step and their
// groups.
void Stepd::signal_tasks(int signal) {
    if (!has_tasks()) return;
    for (const Task& task : tasks_) {
        if (task.has_exited() || task.pid <= 0) continue;
        ::kill(launch_.is_batch() ? task.pid : -task.pid, signal);
    }
}

void Stepd::on_signal_order(const wire::SignalSteps& order) {
    if (!has_tasks()) return;
    if (order.all_processes() || order.signal() == SIGKILL)
        return walls_->signal_all(launch_.key, order.signal());
    signal_tasks(order.signal());
}

// Says once why the step is about to end, whoever asks for it first.
void Stepd::announce(model::EndCause cause, bool at_once) {
    if (!has_tasks() || announced_) return;
    const std::string line = end_message(launch_.key, launch_.node, cause, at_once, os::now());
    if (line.empty()) return;
    announced_ = true;
    if (launch_.node_index == 0) say(line);
}

void Stepd::end(model::EndCause cause, Seconds grace) {
    const bool at_once = grace.count() == 0;
    if (stage_ == Stage::Connecting) return fail_launch("ended before it began");
    if (stage_ == Stage::Preparing) return cannot_start("ended before it began");
    if (stage_ == Stage::Delivering) return at_once ? conclude() : limit_delivery(grace);
    if (at_once) spare_until_.reset();
    const bool first = ending_ == Ending::No;
    // Also if its tasks are gone: what they have printed is yet to be delivered.
    if (first) ending_ = Ending::Asked;
    if (stage_ == Stage::Emptying && at_once) ending_ = Ending::Killed;
    if (!has_tasks()) return;
    announce(cause, at_once);
    if (first) {
        resume();
        if (!at_once) {
            walls_->signal_all(launch_.key, SIGCONT);
            walls_->signal_all(launch_.key, SIGTERM);
            if (launch_.is_batch())
                spare_until_ = std::chrono::steady_clock::now() + grace + kLastWordsMax;
        }
        send_status();
    }
    if (at_once) return kill_now();
    if (ending_ != Ending::Killed) kill_timer_ = loop_.after(grace, [this] { kill_now(); });
}

// srun gives up. If the job's time is over, then because of that.
void Stepd::abort(model::EndCause cause, Seconds grace) {
    const auto deadline = time_limit_.deadline();
    const bool in_time = !deadline || os::now() + kClockSkew < *deadline;
    if (has_tasks() && cause == model::EndCause::Finished && !in_time) return on_time_limit();
    end(cause, grace);
}

void Stepd::kill_now() {
    ending_ = Ending::Killed;
    walls_->kill_all(launch_.key);
    // Something may have forked away meanwhile: again, until the tasks are gone.
    kill_timer_ = loop_.after(Millis{100}, [this] {
        const bool all_exited = std::ranges::all_of(tasks_, &Task::has_exited);
        if (has_tasks() && !all_exited) kill_now();
    });
}

void Stepd::on_time_limit() {
    outcome_.timed_out = true;
    end(model::EndCause::TimeLimit, launch_.kill_wait);
}

// A program may put its things in order before it stands still.
void Stepd::suspend(Seconds grace) {
    if (!has_tasks() || pace_ != Pace::Running) return;
    if (grace.count() == 0) return set_frozen(true);
    pace_ = Pace::Stopping;
    walls_->signal_all(launch_.key, SIGTSTP);
    freeze_timer_ = loop_.after(grace, [this] { set_frozen(true); });
}

void Stepd::resume() {
    freeze_timer_ = {};
    set_frozen(false);
    const Pace before = std::exchange(pace_, Pace::Running);
    if (before == Pace::Stopping || before == Pace::Stopped)
        walls_->signal_all(launch_.key, SIGCONT);
}

void Stepd::set_frozen(bool frozen) {
    if (!has_tasks() || frozen == time_limit_.stands_still()) return;
    if (const Status done = walls_->set_frozen(launch_.key, frozen); !done) {
        log_.error(fmt::format("{}: {}", model::to_string(launch_.key), done.error().message));
    }
    if (frozen) pace_ = pace_ == Pace::Stopping ? Pace::Stopped : Pace::Frozen;
    time_limit_.set_still(frozen);
}

// Where the kernel does not limit memory, the step is looked at now and then. Not at its start: to
// look at all processes of a machine takes longer than many a step.
void Stepd::watch_memory() {
    const std::uint64_t limit = launch_.job_grant.memory.value << 20;
    if (!launch_.constrain_memory || limit == 0 || walls_->limits_memory()) return;
    memory_timer_ = loop_.after(kMemoryLook, [this, limit] {
        if (!has_tasks()) return;
        if (walls_->memory_use(launch_.key).bytes <= limit) return watch_memory();
        outcome_.out_of_memory = true;
        kill_now();
    });
}

void Stepd::answer_pids(const wire::PidsAsk& ask) {
    wire::StepdToAgent message;
    wire::PidsAnswer& answer = *message.mutable_pids();
    answer.set_id(ask.id());
    if (has_tasks() && ask.usage()) {
        usage_.look();
        wire::StepUsageEntry& entry = *answer.add_usage();
        wire::encode_key(launch_.key, entry.mutable_key());
        wire::encode(usage_.usage(launch_.node), entry.mutable_usage());
    } else if (has_tasks()) {
        for (const pid_t pid : walls_->pids(launch_.key)) {
            wire::PidEntry& entry = *answer.add_pids();
            entry.set_pid(static_cast<std::uint32_t>(pid));
            entry.set_job(launch_.key.job.value);
            entry.set_step(launch_.key.step.value);
            for (std::uint32_t local = 0; local < tasks_.size(); ++local) {
                if (tasks_[local].pid != pid) continue;
                entry.set_local_id(local);
                entry.set_global_id(tasks_[local].global);
            }
        }
    }
    agent_.send(message);
}

}  // namespace switchyard::stepd
