// run.hpp: a step while it runs: its stepds, its output and input, signals, and how it ends.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/srun/step.hpp"
#include "cli/srun/streams.hpp"
#include "cli/step_io/input_reader.hpp"
#include "cli/step_io/raw_terminal.hpp"
#include "cli/step_io/sink.hpp"
#include "cli/step_io/step_server.hpp"
#include "cli/step_io/task_table.hpp"
#include "cli/submission/controller_link.hpp"
#include "io/fd.hpp"
#include "model/end_cause.hpp"
#include "model/output_joiner.hpp"
#include "options/job_request.hpp"
#include "pmi/hub.hpp"

namespace switchyard::cli {

class StepRun {
  public:
    struct Parts {
        io::Loop& loop;
        ControllerLink& link;
        StepServer& server;
        const options::JobRequest& request;
        const MadeStep& made;
        bool alone;
    };
    explicit StepRun(const Parts& parts);

    // Until all is over; returns the exit code. InvalidArgument or Io: a file of -i, -o or -e
    // cannot be opened.
    Result<int> run();

  private:
    struct Node {
        std::string name;
        model::IndexSet tasks, left;   // Left: not known to have ended. Counted through all parts.
        JobId job;                     // The component it belongs to,
        std::uint32_t first_task = 0;  // and the number of that component's first task.
        bool arrived = false, finished = false;
    };
    // srun_run.cpp: messages of the stepds and of the controller.
    Status open_streams();
    Result<Sink> open_sink(const Stream& stream, int standard) const;
    std::string expand(const std::string& pattern) const;
    void on_hello(std::uint32_t node);
    void on_message(std::uint32_t node, const wire::StepdToSrun& message);
    void on_gone(std::uint32_t node);
    void on_started(Node& node, const std::vector<std::uint32_t>& tasks, const std::string& error);
    void on_output(std::uint32_t task, std::uint32_t stream, std::string_view data);
    void on_exited(Node& node, const TaskExit& exit);
    void on_text(const std::string& text);
    void on_pmi(std::uint32_t node, const wire::PmiMessage& message);
    void deliver(const pmi::Hub::Delivery& delivery);
    void on_reply(const wire::Reply& reply);
    void on_controller_back();
    std::uint32_t place_of(const wire::StepHello& hello) const;
    void add_nodes(const model::Step& step);
    void start_input();
    void send_input(std::string_view data, bool end);
    void tell_exits();
    void node_lost(Node& node);
    void node_over(Node& node);
    void launch_failed(const std::string& node, const std::string& why);
    void ask_about_absent();
    void finish();

    // srun_signals.cpp: what the user and the system send, and ending the step by force.
    void watch_signals();
    void on_interrupt();
    void force_termination();
    void terminate_for_failure();
    void abort_step(model::EndCause cause);
    void order_end(model::EndCause cause);
    void send_end_order(std::uint32_t node);
    void say_abort_once();
    void send_signal(int number);
    void send_window_size();
    void first_task_exited();
    void reader_gone();

    std::string step_name() const { return "StepId=" + model::to_string(parts_.made.step.key); }

    Parts parts_;
    io::Loop& loop_;
    const options::JobRequest& request_;
    Streams streams_;
    std::vector<Node> nodes_;
    pmi::Hub hub_;
    std::vector<pmi::Hub::Delivery> undelivered_;  // For nodes that have not arrived.
    TaskTable table_;
    ExitGatherer gatherer_;
    std::optional<Sink> out_, err_;
    std::unique_ptr<model::OutputJoiner> out_joiner_, err_joiner_;
    io::Fd input_file_;  // -i with a file, until it is read.
    std::unique_ptr<InputReader> input_;
    std::unique_ptr<RawTerminal> terminal_;
    std::vector<io::Loop::Watch> signals_;
    io::Loop::Timer gather_timer_, abort_timer_, wait_timer_, absent_timer_;
    std::optional<Instant> interrupted_;
    std::optional<model::EndCause> end_cause_;  // The stepds were told to end their tasks.
    bool aborted_ = false, told_abort_ = false, terminating_ = false, input_started_ = false;
    bool interrupt_sent_ = false, over_ = false, unread_ = false;
    bool ends_at_once_ = false;  // They get no time to end by themselves.
    int forced_code_ = 0;        // At least this, whatever the tasks say.
    std::optional<int> last_told_status_;
};

}  // namespace switchyard::cli
