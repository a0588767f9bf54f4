// stepd.hpp: the owner of one step on one node: its processes, files, limits and deadline.
//
// It lives through restarts of agent and controller. Its way: launch -> tasks run -> all tasks have
// exited -> what they left is killed -> the report goes to the agent -> the controller has it on
// disk -> exit. A report is repeated to every agent that comes until one says that the end is
// known.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "io/fd.hpp"
#include "io/loop.hpp"
#include "os/child.hpp"
#include "os/containment.hpp"
#include "os/log.hpp"
#include "stepd/agent_links.hpp"
#include "stepd/binding.hpp"
#include "stepd/labelled_file.hpp"
#include "stepd/launch.hpp"
#include "stepd/output_files.hpp"
#include "stepd/srun_link.hpp"
#include "stepd/task_pipes.hpp"
#include "stepd/task_scripts.hpp"
#include "stepd/turns_door.hpp"
#include "stepd/usage_sampler.hpp"

namespace switchyard::wire {
class AttachStep;
class EndStep;
class PidsAsk;
class SignalSteps;
class StepReport;
}  // namespace switchyard::wire

namespace switchyard::pmi {
class Server;
}

namespace switchyard::stepd {

// Why a step is ended: the numbers of core::EndCause, and what only a stepd or srun knows.
enum class Cause : std::uint32_t {
    Finished = 0,
    Cancelled = 1,
    TimeLimit = 2,
    NodeFailed = 3,
    Preempted = 4,
    Requeued = 5,
    TaskFailed = 6,
};

// "*** STEP 54.0 ON n1 CANCELLED AT 2026-11-15T01:43:18 DUE TO TIME LIMIT ***"; empty where nothing
// is said.
std::string end_message(const StepKey& key, const std::string& node, Cause cause, bool at_once,
                        Instant now);

class Stepd {
  public:
    Stepd(io::Loop& loop, io::Fd agent, io::Fd listener);
    ~Stepd();
    // Over, and the process is as it was before: it may serve another step. Whoever makes a step
    // change the process itself (a namespace, say) must say so here.
    bool leaves_no_trace() const { return !changed_process_; }
    // Where its step was; when it is over.
    os::ContainmentPlan take_walls() { return std::move(launch_.setup.containment); }

  private:
    // Preparing: connected, but no task has begun.
    enum class Stage { Waiting, Connecting, Preparing, Running, Emptying, Delivering, Over };
    // A task that is about to be: what it will be, and its ends of what we made for it.
    struct Beginning {
        os::ChildPlan plan;
        io::Fd in, out, err;
    };
    struct Task {
        std::uint32_t global = 0;
        pid_t pid = 0;
        bool exited = false;
        int status = 0;
        std::unique_ptr<Beginning> beginning;  // Until it is a process.
        io::Fd report;                         // What it says until it is its program.
        io::Loop::Watch report_watch;
        bool opens_files = false;  // It has not said yet that they are open.
        std::string start_error;
        std::unique_ptr<TaskPipes> pipes;
        std::unique_ptr<LabelledFile> out_file, err_file;  // Of --label.
        std::vector<std::string> environment;              // Kept for its epilog, if there is one.
    };

    // --- stepd.cpp: from the launch to running tasks ---
    void receive(const wire::AgentToStepd& message);
    void start(const wire::AgentToStepd& message);
    Status prepare();
    Status guard_cards();
    os::StepLimits limits() const;
    void resolve_names();
    void run_tasks();
    void begin_tasks();
    void fail_launch(const std::string& why);
    void say(const std::string& text);  // A line of ours in the job's output.
    void say_raw(const std::string& line);

    // --- stepd_tasks.cpp: what each task is ---
    Status plan_batch(Beginning& beginning);
    Status prepare_tasks();
    Status plan_task(std::uint32_t local, Beginning& beginning);
    Status plan_streams(Task& task, Beginning& beginning);
    Result<io::Fd> plan_stream(Task& task, std::uint32_t stream, os::ChildFile& file);
    void take_output(Task& task, std::uint32_t stream, std::string_view data);
    Result<std::string> write_script();
    void remove_script();
    Binding find_binding();
    bool takes_input(const Task& task) const;
    os::ChildPlan child_plan();

    // --- stepd_begin.cpp: from a plan to a process, task after task, without ever waiting ---
    void begin_from(std::uint32_t local);
    bool run_prolog(std::uint32_t local, std::size_t which);
    void on_prolog(std::uint32_t local, std::size_t which, const Status& status,
                   const std::string& printed);
    Status start_task(std::uint32_t local);
    void read_report(Task& task);
    void on_report(std::uint32_t local);
    void take_report(Task& task, os::ChildReport report);
    void tell_started();
    void cannot_start(const std::string& why);
    void give_up_beginning();
    void run_epilog(std::uint32_t local, std::size_t which);
    Status run_script(const std::string& program, os::ChildPlan plan, TaskScript::Done done);

    // --- stepd_srun.cpp: between the tasks and their srun ---
    void connect_srun();
    void on_input(std::optional<std::uint32_t> task, std::string_view data, bool eof);
    void on_srun_lost(const std::string& why);
    void throttle();
    Status open_pmi();
    void on_pmi_ready(const Status& status);

    // --- stepd_attach.cpp: further clients of the tasks' streams (sattach) ---
    void attach(const wire::AttachStep& order);
    void detach(std::uint64_t guest);
    void hand_out(std::uint32_t task, std::uint32_t stream, std::string_view data);

    // --- stepd_orders.cpp: what it is told while tasks run, and what the clock says ---
    void on_signal_order(const wire::SignalSteps& order);
    void signal_tasks(int signal);
    void announce(Cause cause, bool at_once);
    void end(Cause cause, Seconds grace);
    void abort(Cause cause, Seconds grace);
    void kill_now();
    void set_deadline(std::optional<Instant> deadline);
    void arm_timers();
    void on_deadline();
    void send_warning();
    void suspend(Seconds grace);
    void resume();
    void set_frozen(bool frozen);
    void watch_memory();
    void answer_pids(const wire::PidsAsk& ask);

    // --- stepd_usage.cpp: what the tasks use ---
    void watch_usage();
    void look_at_usage();
    void remember_processor_time();
    model::StepUsage usage() const;

    // --- stepd_finish.cpp: from the last exit to the report ---
    void reap();
    bool has_children_to_wait_for();
    void take_exits(const std::vector<Task*>& exited);
    bool is_over() const;
    void report_exits(const std::vector<Task*>& exited);
    void empty_out();
    bool spares_sruns(const std::vector<pid_t>& left) const;
    void deliver();
    void conclude_if_delivered();
    void conclude();
    void wait_to_be_known();
    void send_status();

    io::Loop& loop_;
    os::Log log_;
    AgentLinks agent_;
    Stage stage_ = Stage::Waiting;
    Launch launch_;
    std::unique_ptr<os::Containment> walls_;
    std::vector<Task> tasks_;
    Binding binding_;
    std::vector<std::unique_ptr<TaskScript>> scripts_;  // Those that run now.
    bool begun_ = false;         // All tasks are processes, or never will be.
    bool told_started_ = false;  // To srun.
    std::unique_ptr<SrunLink> srun_;
    std::unique_ptr<pmi::Server> pmi_;
    std::map<std::uint64_t, std::unique_ptr<SrunLink>> guests_;
    std::uint64_t next_guest_ = 1;
    std::vector<std::uint64_t> leaving_guests_;
    std::vector<std::unique_ptr<TurnsDoor>> turns_;  // Of the cards that the guard keeps.
    std::string script_folder_;
    io::Fd messages_;  // The batch job's standard error.

    UsageSampler sampler_;
    os::ProcessorTime processor_time_;  // By the kernel's count for the whole step.
    Millis usage_pause_{0};

    io::Loop::Watch child_watch_;
    io::Loop::Timer deadline_timer_, warn_timer_, kill_timer_, empty_timer_, memory_timer_,
        deliver_timer_, known_timer_, usage_timer_, guests_timer_, freeze_timer_;
    std::optional<Instant> frozen_since_;
    bool stopped_ = false;  // By SIGTSTP: to be frozen, or frozen already.
    std::optional<Instant>
        own_deadline_;  // Of a step with a time limit of its own, whatever the job's is.
    bool warned_ = false, announced_ = false, ending_ = false, killed_ = false, timed_out_ = false,
         out_of_memory_ = false;
    // A script that was told to end: until then its sruns may still write what became of their
    // steps.
    std::optional<std::chrono::steady_clock::time_point> spare_until_;
    bool job_clean_ = false, srun_has_all_ = false;
    bool changed_process_ = false;
    Millis empty_wait_{1};
    std::string launch_error_;
};

}  // namespace switchyard::stepd
