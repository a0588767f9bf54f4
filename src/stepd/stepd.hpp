// stepd.hpp: the owner of one step on one node: its processes, files, limits and deadline.
//
// It lives through restarts of agent and controller. Its way: launch -> tasks run -> all tasks have
// exited -> what they left is killed -> the report goes to the agent -> the controller has it on
// disk -> exit. A report is repeated to every agent that comes until one says that the end is
// known.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "model/end_cause.hpp"
#include "os/child.hpp"
#include "os/containment.hpp"
#include "os/log.hpp"
#include "stepd/agent_links.hpp"
#include "stepd/launch.hpp"
#include "stepd/setup/setup.hpp"
#include "stepd/step_clients.hpp"
#include "stepd/task.hpp"
#include "stepd/task_scripts.hpp"
#include "stepd/time_limit.hpp"
#include "stepd/usage_watch.hpp"

namespace switchyard::wire {
class AttachStep;
class EndStep;
class PidsAsk;
class SignalSteps;
class StepReport;
}  // namespace switchyard::wire

namespace switchyard::stepd {

// "*** STEP 54.0 ON n1 CANCELLED AT 2026-11-15T01:43:18 DUE TO TIME LIMIT ***"; empty where nothing
// is said.
std::string end_message(const StepKey& key, const std::string& node, model::EndCause cause,
                        bool at_once, Instant now);

class Stepd {
  public:
    Stepd(io::Loop& loop, io::Fd agent, io::Fd listener);
    ~Stepd();
    // Over, and the process is as it was before: it may serve another step. Whoever makes a step
    // change the process itself (a namespace, say) must say so here.
    bool leaves_no_trace() const { return !setup_ || !setup_->changes_process; }
    // Where its step was; when it is over.
    os::ContainmentPlan take_walls() { return std::move(launch_.setup.containment); }

  private:
    // Preparing: connected, but no task has begun. Beginning: some are processes already. Opening:
    // all are, or never will be. Running: and their files are open.
    enum class Stage : std::uint8_t {
        Waiting,
        Connecting,
        Preparing,
        Beginning,
        Opening,
        Running,
        Emptying,
        Delivering,
        Over
    };
    enum class Ending : std::uint8_t { No, Asked, Killed };
    // Stopping: told by SIGTSTP to put its things in order before it stands still; then Stopped.
    enum class Pace : std::uint8_t { Running, Stopping, Stopped, Frozen };

    bool has_tasks() const { return stage_ >= Stage::Beginning && stage_ <= Stage::Running; }

    // --- stepd.cpp: from the launch to running tasks ---
    void receive(const wire::AgentToStepd& message);
    void start(const wire::AgentToStepd& message);
    Status prepare();
    void connect_srun();
    void prepare_tasks();
    void on_pmi_ready(const Status& status);
    void begin_tasks();
    void fail_launch(const std::string& why);
    void say(const std::string& text);  // A line of ours in the job's output.

    // --- stepd_begin.cpp: from a plan to a process, task after task, without ever waiting ---
    void begin_from(std::uint32_t local);
    Status plan_task(std::uint32_t local);
    bool run_prolog(std::uint32_t local, std::size_t which);
    void on_prolog(std::uint32_t local, std::size_t which, const Status& status,
                   const std::string& printed);
    Status start_task(std::uint32_t local);
    Status start_process(Task& task, bool says_more);
    void read_report(Task& task);
    void on_report(std::uint32_t local);
    void take_report(Task& task, os::ChildReport report);
    void tell_started();
    void cannot_start(const std::string& why);
    void give_up_beginning();
    void run_epilog(std::uint32_t local, std::size_t which);
    Status run_script(const std::string& program, os::ChildPlan plan, TaskScript::Done done);

    // --- stepd_clients.cpp: between the tasks and those who see them ---
    void on_input(std::optional<std::uint32_t> task, std::string_view data, bool eof);
    void on_output(std::uint32_t task, std::uint32_t stream, std::string_view data);
    void on_srun_lost(const std::string& why);
    void attach(const wire::AttachStep& order);
    void pause_output(bool paused);
    void set_window(std::uint16_t rows, std::uint16_t cols);
    void tell_tasks(SrunLink& client) const;

    // --- stepd_orders.cpp: what it is told while tasks run, and what the clock says ---
    void on_signal_order(const wire::SignalSteps& order);
    void signal_tasks(int signal);
    void announce(model::EndCause cause, bool at_once);
    void end(model::EndCause cause, Seconds grace);
    void abort(model::EndCause cause, Seconds grace);
    void kill_now();
    void on_time_limit();
    void suspend(Seconds grace);
    void resume();
    void set_frozen(bool frozen);
    void watch_memory();
    void answer_pids(const wire::PidsAsk& ask);

    // --- stepd_finish.cpp: from the last exit to the report ---
    void reap();
    bool has_children_to_wait_for();
    void take_exits(const std::vector<Task*>& exited);
    bool is_over() const;
    void report_exits(const std::vector<Task*>& exited);
    void begin_to_empty();
    void empty_out();
    bool spares_sruns(const std::vector<pid_t>& left) const;
    void deliver();
    void limit_delivery(Millis patience);
    void conclude_if_delivered();
    void conclude();
    void wait_to_be_known();
    void send_status();

    io::Loop& loop_;
    os::Log log_;
    AgentLinks agent_;
    Stage stage_ = Stage::Waiting;
    Ending ending_ = Ending::No;
    Pace pace_ = Pace::Running;
    Launch launch_;
    std::unique_ptr<os::Containment> walls_;
    std::optional<setup::Step> setup_;
    std::vector<Task> tasks_;
    std::vector<std::unique_ptr<TaskScript>> scripts_;  // Those that run now.
    StepClients clients_;
    io::Fd messages_;  // The batch job's standard error.
    UsageWatch usage_;
    TimeLimit time_limit_;

    io::Loop::Watch child_watch_;
    io::Loop::Timer kill_timer_, empty_timer_, memory_timer_, deliver_timer_, known_timer_,
        freeze_timer_;
    bool announced_ = false;  // Why it ends.
    // A script that was told to end: until then its sruns may still write what became of their
    // steps.
    std::optional<std::chrono::steady_clock::time_point> spare_until_;
    std::optional<std::chrono::steady_clock::time_point> deliver_by_;
    Millis empty_wait_{1};
    // What the report says beside the tasks' own ends.
    struct Outcome {
        std::string launch_error;
        bool timed_out = false, out_of_memory = false;
        bool job_clean = false;  // No other step of the job was seen here.
    } outcome_;
};

}  // namespace switchyard::stepd
