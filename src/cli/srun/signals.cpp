// signals.cpp: what the user and the system send to srun, and how a step is ended by force.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "cli/message.hpp"
#include "cli/srun/run.hpp"
#include "cli/submission/messages.hpp"
#include "wire/proto/step_io.pb.h"

namespace switchyard::cli {
namespace {

constexpr Seconds kSecondInterruptWithin{1};
constexpr Seconds kBeyondKillWait{2};
// Of Abort in step_io.proto.
constexpr int kBrokenPipeCode = 128 + SIGPIPE;

}  // namespace

void StepRun::watch_signals() {
    ::signal(SIGPIPE, SIG_IGN);
    const auto on = [this](int number, std::function<void()> work) {
        if (std::ranges::count(request_.launch.ignored_signals, number) > 0) work = [] {};
        signals_.push_back(loop_.on_signal(number, std::move(work)));
    };
    on(SIGINT, [this] { on_interrupt(); });
    for (const int number : {SIGTERM, SIGHUP, SIGQUIT}) on(number, [this] { force_termination(); });
    on(SIGCONT, [this] { inform(request_, "got SIGCONT"); });
    on(SIGTSTP, [] {});  // Ctrl-Z would stop only us, and the output of the tasks with us.
    on(SIGTTIN, [] {});
    for (const int number : {SIGUSR1, SIGUSR2, SIGALRM})
        on(number, [this, number] { send_signal(number); });
    if (request_.launch.pty) on(SIGWINCH, [this] { send_window_size(); });
}

void StepRun::send_signal(int number) {
    wire::SrunToStepd message;
    message.mutable_signal()->set_signal(number);
    parts_.server.send_all(message);
}

void StepRun::send_window_size() {
    const TerminalSize size = terminal_size();
    wire::SrunToStepd message;
    message.mutable_window()->set_rows(size.rows);
    message.mutable_window()->set_cols(size.cols);
    parts_.server.send_all(message);
}

// Once: how are the tasks doing. Twice within a second: end them. A third time: leave at once.
void StepRun::on_interrupt() {
    if (aborted_) {
        forced_code_ = std::max(forced_code_, 128 + SIGINT);
        return finish();
    }
    if (request_.launch.disable_status) {
        inform(request_, "sending Ctrl-C to " + step_name());
        return send_signal(SIGINT);
    }
    const Instant now = loop_.now();
    const bool again = interrupted_ && now - *interrupted_ <= kSecondInterruptWithin;
    interrupted_ = now;
    if (!again && !request_.launch.quit_on_interrupt) {
        inform(request_, "interrupt (one more within 1 sec to abort)");
        for (const std::string& line : table_.state_lines())
            inform(request_, step_name() + " " + line);
        return;
    }
    inform(request_, "sending Ctrl-C to " + step_name());
    interrupt_sent_ = true;
    send_signal(SIGINT);
    force_termination();
}

void StepRun::force_termination() {
    if (aborted_) return;
    inform(request_, "forcing job termination");
    abort_step(model::EndCause::Finished);
}

void StepRun::say_abort_once() {
    if (std::exchange(told_abort_, true)) return;
    inform(request_,
           fmt::format("Job step aborted: Waiting up to {} seconds for job step to finish.",
                       (parts_.link.config().kill_wait + kBeyondKillWait).count()));
}

void StepRun::abort_step(model::EndCause cause) {
    if (std::exchange(aborted_, true)) return;
    say_abort_once();
    order_end(cause);
    // Nodes that never came have nothing to end.
    for (Node& node : nodes_) {
        if (!node.arrived && !node.finished) node_over(node);
    }
    abort_timer_ = loop_.after(parts_.link.config().kill_wait + kBeyondKillWait, [this] {
        say_error("srun", "Timed out waiting for job step to complete");
        forced_code_ = std::max(forced_code_, error_exit_code());
        finish();
    });
}

// --kill-on-bad-exit.
void StepRun::terminate_for_failure() {
    if (aborted_ || std::exchange(terminating_, true)) return;
    if (table_.all_ended()) return;
    inform(request_, "Terminating " + step_name());
    order_end(model::EndCause::TaskFailed);
}

// Nodes that come later get the same order when they do.
void StepRun::order_end(model::EndCause cause) {
    end_cause_ = cause;
    for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
        if (nodes_[node].arrived) send_end_order(node);
    }
}

void StepRun::send_end_order(std::uint32_t node) {
    wire::SrunToStepd message;
    message.mutable_abort()->set_grace(ends_at_once_ ? 0 : parts_.link.config().kill_wait.count());
    message.mutable_abort()->set_cause(static_cast<std::uint32_t>(*end_cause_));
    parts_.server.send(node, message);
}

void StepRun::first_task_exited() {
    const std::uint32_t seconds = request_.launch.wait_seconds.value_or(0);
    if (seconds == 0) return;
    wait_timer_ = loop_.after(Seconds{seconds}, [this, seconds] {
        inform(request_, fmt::format("First task exited {}s ago", seconds));
        for (const std::string& line : table_.state_lines())
            inform(request_, step_name() + " " + line);
        if (aborted_ || terminating_ || table_.all_ended()) return;
        inform(request_, "Terminating " + step_name());
        ends_at_once_ = true;
        abort_step(model::EndCause::Cancelled);
    });
}

// Nobody reads our output any more (`srun yes | head`): the tasks end, as a process in their place
// would.
void StepRun::reader_gone() {
    if (aborted_) return;
    forced_code_ = kBrokenPipeCode;
    unread_ = told_abort_ = true;
    abort_step(model::EndCause::Finished);
}

}  // namespace switchyard::cli
