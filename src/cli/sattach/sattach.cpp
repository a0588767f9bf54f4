// sattach.cpp: the streams of a step that already runs: its output here too, and our input to its
// tasks. Leaving changes nothing for the step.
#include <fmt/format.h>
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/message.hpp"
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

constexpr std::string_view kHelp =
    "Usage: sattach [options] <jobid.stepid>\n"
    "      --input-filter=taskid  send standard input to only this task\n"
    "      --output-filter=taskid print standard output of only this task\n"
    "      --error-filter=taskid  print standard error of only this task\n"
    "  -l, --label                prefix each line with the number of its task\n"
    "      --layout               print the layout of the step and exit\n"
    "      --pty                  the step has a terminal: use ours in its way\n"
    "  -Q, --quiet                no informational messages\n"
    "  -v, --verbose              say more\n"
    "  -V, --version              print the version\n"
    "  -h, --help, -u, --usage    print this text\n";

struct Wish {
    JobId job;
    StepId step;
    std::optional<std::uint32_t> input, output, error;
    bool label = false, layout = false, pty = false, quiet = false;
};

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

std::optional<std::uint32_t> task_number(const char* text) {
    const auto number = parse_uint(text);
    if (!number || *number > 0x7fffffff) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

// The exit code where there is nothing to do.
std::optional<int> parse(int argc, char** argv, Wish& wish) {
    static const option kOptions[] = {{"error-filter", required_argument, nullptr, 3},
                                      {"help", no_argument, nullptr, 'h'},
                                      {"input-filter", required_argument, nullptr, 1},
                                      {"label", no_argument, nullptr, 'l'},
                                      {"layout", no_argument, nullptr, 4},
                                      {"output-filter", required_argument, nullptr, 2},
                                      {"pty", no_argument, nullptr, 5},
                                      {"quiet", no_argument, nullptr, 'Q'},
                                      {"usage", no_argument, nullptr, 'u'},
                                      {"verbose", no_argument, nullptr, 'v'},
                                      {"version", no_argument, nullptr, 'V'},
                                      {nullptr, 0, nullptr, 0}};
    for (int letter = 0; (letter = getopt_long(argc, argv, "+hlQuvV", kOptions, nullptr)) != -1;) {
        if (letter == 'h' || letter == 'u' || letter == 'V') {
            const std::string text(letter == 'V' ? std::string(kVersionLine) + "\n"
                                                 : std::string(kHelp));
            std::fwrite(text.data(), 1, text.size(), stdout);
            return 0;
        }
        if (letter >= 1 && letter <= 3) {
            auto& filter = letter == 1 ? wish.input : letter == 2 ? wish.output : wish.error;
            filter = task_number(optarg);
            if (!filter) {
                say_error(kProgram, fmt::format("Invalid task number \"{}\"", optarg));
                return 1;
            }
        }
        if (letter == '?') {
            say_try_help(kProgram);
            return 1;
        }
        wish.label |= letter == 'l';
        wish.layout |= letter == 4;
        wish.pty |= letter == 5;
        wish.quiet |= letter == 'Q';
    }
    if (wish.pty && (wish.input || wish.output || wish.error)) {
        say_error(kProgram, "--error/--output/--input-filter are incompatible with --pty");
        return 1;
    }
    const auto selector = optind + 1 == argc ? model::parse_job_selector(argv[optind])
                                             : Result<model::JobSelector>(fail(Errc::InvalidJobId));
    if (!selector || !selector->step || selector->elements || selector->all_elements) {
        say_error(kProgram, "One job step must be named: sattach [options] <jobid.stepid>");
        return 1;
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
    std::fwrite(text.data(), 1, text.size(), stdout);
}

int sattach(int argc, char** argv) {
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
    return Attachment(loop, **server, wish, *std::move(step)).run();
}

}  // namespace
}  // namespace switchyard::cli

int switchyard::cli::sattach_main(int argc, char** argv) {
    char name[] = "sattach";  // getopt's messages begin with it.
    argv[0] = name;
    return sattach(argc, argv);
}
