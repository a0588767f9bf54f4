// sattach.cpp: the streams of a step that already runs: its output here too, and our input to its
// tasks. Leaving changes nothing for the step.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "cli/step_io/input_reader.hpp"
#include "cli/step_io/raw_terminal.hpp"
#include "cli/step_io/sink.hpp"
#include "cli/step_io/step_server.hpp"
#include "cli/step_io/task_table.hpp"
#include "cli/submission/controller_link.hpp"
#include "cli/submission/surroundings.hpp"
#include "model/hostlist.hpp"
#include "model/job_array.hpp"
#include "model/output_joiner.hpp"
#include "wire/codec.hpp"
#include "wire/proto/step_io.pb.h"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "sattach";
constexpr std::size_t kInputUnsentBytesMax = 4u << 20;
constexpr Seconds kArrivalWait{30};

struct Wish {
    JobId job;
    StepId step;
    std::optional<std::uint32_t> input, output, error;
    bool label = false, layout = false, pty = false;
    int verbose = 0;
};

template <auto Member>
Taken keep_task(Wish& wish, const OptionUse& use) {
    const auto number = parse_uint(use.value);
    if (!number || *number > 0x7fffffff)
        return refuse(kProgram, fmt::format("Invalid task number \"{}\"", use.value));
    wish.*Member = static_cast<std::uint32_t>(*number);
    return std::nullopt;
}

const Option<Wish> kOptions[] = {
    {{"input-filter", 0, Argument::Required, "TASK", "send standard input to this task only"},
     keep_task<&Wish::input>},
    {{"output-filter", 0, Argument::Required, "TASK",
      "print the standard output of this task only"},
     keep_task<&Wish::output>},
    {{"error-filter", 0, Argument::Required, "TASK", "print the standard error of this task only"},
     keep_task<&Wish::error>},
    {{"label", 'l', Argument::None, "", "prefix each line with the number of its task"},
     flag<&Wish::label>},
    {{"layout", 0, Argument::None, "", "print which task runs where, and nothing else"},
     flag<&Wish::layout>},
    {{"pty", 0, Argument::None, "", "the step has a terminal: use ours in its way"},
     flag<&Wish::pty>},
    // Without -v nothing is said but errors.
    {{"quiet", 'Q', Argument::None, "", "only say what went wrong (the default)"}, nothing<Wish>},
    {{"verbose", 'v', Argument::None, "", "say where the tasks run"}, count<&Wish::verbose>},
};

constexpr CommandText kText{.program = kProgram,
                            .operands = "<jobid.stepid>",
                            .purpose = "The streams of a step that runs.",
                            .footer = {},
                            .help_letter = 'h',
                            .takes_words = true,
                            .usage_letter = 'u',
                            .options_first = true};

class Attachment {
  public:
    Attachment(io::Loop& loop, StepServer& server, const Wish& wish, model::Step step)
        : loop_(loop),
          server_(server),
          wish_(wish),
          step_(std::move(step)),
          table_(step_.layout.task_count()),
          out_(STDOUT_FILENO),
          err_(STDERR_FILENO) {
        const model::OutputJoiner::Style style{
            .label = wish.label, .unbuffered = wish.pty, .task_count = step_.layout.task_count()};
        out_joiner_ = std::make_unique<model::OutputJoiner>(style, writer(out_));
        err_joiner_ = std::make_unique<model::OutputJoiner>(style, writer(err_));
    }

    int run() {
        if (wish_.pty) terminal_ = std::make_unique<RawTerminal>();
        ::signal(SIGPIPE, SIG_IGN);
        server_.serve(
            {.on_hello = [this](std::uint32_t) { came(); },
             .on_message = [this](std::uint32_t node,
                                  const wire::StepdToSrun& message) { take(node, message); },
             .on_gone = [this](std::uint32_t node) { node_over(node); }});
        const auto patience = loop_.after(kArrivalWait, [this] {
            if (arrived_ == step_.running_nodes.size()) return;
            say_error(kProgram, "the nodes of the step did not answer");
            failed_ = true;
            loop_.stop();
        });
        loop_.run();
        terminal_.reset();
        return failed_ ? 1 : table_.exit_code();
    }

  private:
    model::OutputJoiner::Write writer(const Sink& sink) {
        return [this, &sink](std::string_view bytes) {
            if (!sink.write(bytes)) loop_.stop();
        };
    }

    void came() {
        if (++arrived_ < step_.running_nodes.size()) return;
        server_.close_door();
        input_ = std::make_unique<InputReader>(
            loop_, InputReader::Handlers{
                       .on_data = [this](std::string_view data) { send_input(data); },
                       .on_end = [] {},  // The end of the tasks' input is for their srun to say.
                       .must_pause =
                           [this] {
                               if (server_.unsent_bytes() < kInputUnsentBytesMax) return false;
                               server_.on_drained([this] { input_->resume(); });
                               return true;
                           }});
        input_->start(STDIN_FILENO);
    }

    void send_input(std::string_view data) {
        wire::SrunToStepd message;
        if (wish_.input) message.mutable_input()->set_task(*wish_.input);
        message.mutable_input()->set_data(data.data(), data.size());
        server_.send_all(message);
    }

    void take(std::uint32_t node, const wire::StepdToSrun& message) {
        if (message.has_output()) {
            const wire::TaskOutput& output = message.output();
            const bool error = output.stream() == 2;
            const auto& filter = error ? wish_.error : wish_.output;
            if (filter && *filter != output.task()) return;
            (error ? *err_joiner_ : *out_joiner_).take(output.task(), output.data());
        } else if (message.has_exited()) {
            TaskExit exit;
            for (const std::uint32_t task : message.exited().tasks()) exit.tasks.insert(task);
            exit.wait_status = message.exited().wait_status();
            table_.end(exit);
        } else if (message.has_text()) {
            err_.write(message.text().text() + "\n");
        } else if (message.has_finished()) {
            node_over(node);
        }
    }

    void node_over(std::uint32_t node) {
        over_.insert(node);
        if (over_.size() < step_.running_nodes.size()) return;
        out_joiner_->end_all();
        err_joiner_->end_all();
        loop_.stop();
    }

    io::Loop& loop_;
    StepServer& server_;
    const Wish& wish_;
    model::Step step_;
    TaskTable table_;
    Sink out_, err_;
    std::unique_ptr<model::OutputJoiner> out_joiner_, err_joiner_;
    std::unique_ptr<InputReader> input_;
    std::unique_ptr<RawTerminal> terminal_;
    std::size_t arrived_ = 0;
    std::set<std::uint32_t> over_;
    bool failed_ = false;
};

// The exit code where there is nothing to do.
std::optional<int> parse(int argc, char** argv, Wish& wish) {
    const ParsedLine line = parse_options(kText, kOptions, wish, argc, argv);
    if (line.exit_code) return line.exit_code;
    if (wish.pty && (wish.input || wish.output || wish.error)) {
        return refuse(kProgram, "--error/--output/--input-filter are incompatible with --pty");
    }
    const auto selector = line.words.size() == 1
                              ? model::parse_job_selector(line.words[0])
                              : Result<model::JobSelector>(fail(Errc::InvalidJobId));
    if (!selector || !selector->step || selector->elements || selector->all_elements) {
        return refuse(kProgram, "One job step must be named: sattach [options] <jobid.stepid>");
    }
    wish.job = selector->job;
    wish.step = *selector->step;
    return std::nullopt;
}

void print_layout(const model::Step& step) {
    std::vector<std::string> nodes;
    for (const model::StepNode& node : step.layout.nodes) nodes.push_back(node.grant.node);
    std::string text =
        fmt::format("Job step layout:\n  {} tasks, {} nodes ({})\n\n", step.layout.task_count(),
                    nodes.size(), model::compress_hostlist(nodes));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::vector<std::uint32_t>& tasks = step.layout.nodes[i].tasks;
        text += fmt::format("  Node {} ({}), {} task(s): {}\n", i, nodes[i], tasks.size(),
                            fmt::join(tasks, " "));
    }
    print(text);
    std::fflush(stdout);
}

}  // namespace

int sattach_main(int argc, char** argv) {
    Wish wish;
    if (const auto code = parse(argc, argv, wish)) return *code;
    open_standard_streams();
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_error(kProgram, session.error().message);
        return 1;
    }
    io::Loop loop;
    auto server = StepServer::open(loop);
    if (!server) {
        say_error(kProgram, server.error().message);
        return 1;
    }
    wire::Request request;
    wire::AttachStepRequest* attach = request.mutable_attach_step();
    attach->set_job(wish.job.value);
    attach->set_step(wish.step.value);
    if (!wish.layout) {
        wire::StepLaunch here;
        (*server)->describe(here);
        attach->set_io_host(here.io_host());
        *attach->mutable_io_addresses() = here.io_addresses();
        attach->set_io_port(here.io_port());
        attach->set_io_unix_path(here.io_unix_path());
        attach->set_io_key(here.io_key());
    }
    const auto reply = session->connection.call(request);
    auto step = reply && reply->has_step_made() ? wire::decode(reply->step_made().step())
                                                : Result<model::Step>(fail(Errc::InvalidStepId));
    if (!reply || !step) {
        say_error(kProgram, fmt::format("Could not get job step info: {}",
                                        reply ? step.error().message : reply.error().message));
        return 1;
    }
    if (wish.layout) {
        print_layout(*step);
        return 0;
    }
    if (wish.verbose > 0) {
        say(kProgram, fmt::format("attached to {} tasks on {} nodes", step->layout.task_count(),
                                  step->running_nodes.size()));
    }
    return Attachment(loop, **server, wish, *std::move(step)).run();
}

}  // namespace switchyard::cli
