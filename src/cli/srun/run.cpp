// run.cpp: one event loop with four sources: stepds (output, exits, errors), the controller
// (limits, cancellation, lost nodes), signals, and our own input. Each node and task is counted off
// as it ends; when no node is left, or the first bad exit has ended the step, the loop stops.
#include "cli/srun/run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/visible.hpp"
#include "cli/message.hpp"
#include "cli/output.hpp"
#include "cli/submission/allocation.hpp"
#include "cli/submission/messages.hpp"
#include "model/owner_notice.hpp"
#include "os/users.hpp"
#include "wire/codec.hpp"
#include "wire/proto/step_io.pb.h"

namespace switchyard::cli {
namespace {

// Exits within this time are told together: on a busy node the tasks of one program end one after
// the other. Where the first bad one ends the step, the others are not waited for.
constexpr Millis kGather{500};
constexpr Millis kGatherBeforeKill{10};
// A stepd that has not come by then is asked after.
constexpr Seconds kAbsentAfter{3};
constexpr std::size_t kInputUnsentBytesMax = 4u << 20;
constexpr int kKilledStatus = 9;

model::IndexSet to_set(const std::vector<std::uint32_t>& tasks, std::uint32_t first = 0) {
    model::IndexSet set;
    for (const std::uint32_t task : tasks) set.insert(first + task);
    return set;
}

std::uint32_t task_count(const MadeStep& made) {
    std::uint32_t tasks = made.step.layout.task_count();
    for (const MadeStep::Part& part : made.more) tasks += part.step.layout.task_count();
    return tasks;
}

std::uint32_t node_count(const MadeStep& made) {
    std::size_t nodes = made.step.layout.nodes.size();
    for (const MadeStep::Part& part : made.more) nodes += part.step.layout.nodes.size();
    return static_cast<std::uint32_t>(nodes);
}

template <class Repeated>
std::vector<std::uint32_t> to_vector(const Repeated& values) {
    return {values.begin(), values.end()};
}

}  // namespace

StepRun::StepRun(const Parts& parts)
    : parts_(parts),
      loop_(parts.loop),
      request_(parts.request),
      streams_(plan_streams(parts.request.launch)),
      hub_(node_count(parts.made)),
      table_(task_count(parts.made)) {
    add_nodes(parts.made.step);
    for (const MadeStep::Part& part : parts.made.more) add_nodes(part.step);
}

void StepRun::add_nodes(const model::Step& step) {
    const std::uint32_t first = step.het ? step.het->task_offset : 0;
    for (const model::StepNode& node : step.layout.nodes) {
        Node entry;
        entry.name = node.grant.node;
        entry.job = step.key.job;
        entry.first_task = first;
        entry.tasks = entry.left = to_set(node.tasks, first);
        nodes_.push_back(std::move(entry));
    }
}

// Stepds know their place in their own component; here they are counted through all of them.
std::uint32_t StepRun::place_of(const wire::StepHello& hello) const {
    std::uint32_t before = 0;
    while (before < nodes_.size() && nodes_[before].job.value != hello.key().job()) ++before;
    const std::uint32_t place = before + hello.node_index();
    const bool ours = place < nodes_.size() && nodes_[place].job.value == hello.key().job();
    return ours ? place : static_cast<std::uint32_t>(nodes_.size());
}

Result<int> StepRun::run() {
    SY_CHECK(open_streams());
    if (request_.launch.pty) terminal_ = std::make_unique<RawTerminal>();
    watch_signals();
    absent_timer_ = loop_.after(kAbsentAfter, [this] { ask_about_absent(); });
    parts_.link.listen([this](const wire::Reply& reply) { on_reply(reply); },
                       [this] { on_controller_back(); });
    parts_.server.serve(
        {.on_hello = [this](std::uint32_t node) { on_hello(node); },
         .on_message = [this](std::uint32_t node,
                              const wire::StepdToSrun& message) { on_message(node, message); },
         .on_gone = [this](std::uint32_t node) { on_gone(node); },
         .place = [this](const wire::StepHello& hello) { return place_of(hello); }});
    loop_.run();
    parts_.link.stop_listening();
    terminal_.reset();
    return unread_ ? forced_code_ : std::max(table_.exit_code(), forced_code_);
}

void StepRun::on_controller_back() {
    if (parts_.alone) attach(parts_.link, parts_.made.job.id);
    // It may have been lost before all nodes were told.
    if (!std::ranges::all_of(nodes_, &Node::arrived)) parts_.link.send(*parts_.made.message);
}

std::string StepRun::expand(const std::string& pattern) const {
    const model::Job& job = parts_.made.job;
    model::PatternFacts facts;
    facts.job = job.id;
    if (job.array) {
        facts.array_job = job.array->array_id;
        facts.element = job.array->element;
    }
    facts.job_name = job.spec->name;
    facts.user = os::user_name(::getuid());
    facts.node = nodes_.front().name;
    facts.step = parts_.made.step.key.step;
    return model::expand_pattern(pattern, facts);
}

Result<Sink> StepRun::open_sink(const Stream& stream, int standard) const {
    if (stream.kind != Stream::Kind::LocalFile) return Sink(standard);
    return Sink::open_file(expand(stream.pattern), request_.job.open_mode);
}

Status StepRun::open_streams() {
    if (streams_.in.kind == Stream::Kind::LocalFile) {
        input_file_.reset(::open(expand(streams_.in.pattern).c_str(), O_RDONLY | O_CLOEXEC));
        if (!input_file_)
            return fail(Errc::Io,
                        fmt::format("Could not open stdin file: {}", std::strerror(errno)));
    }
    SY_TRY(out_, open_sink(streams_.out, STDOUT_FILENO));
    if (streams_.err_with_out) {
        err_.emplace(out_->fd());
    } else {
        SY_TRY(err_, open_sink(streams_.err, STDERR_FILENO));
    }
    const model::OutputJoiner::Style style{
        .label = request_.launch.label,
        .unbuffered = request_.launch.unbuffered || request_.launch.pty,
        .task_count = task_count(parts_.made)};
    const auto writer = [this](const Sink& sink) {
        return [this, &sink](std::string_view bytes) {
            if (!sink.write(bytes)) reader_gone();
        };
    };
    out_joiner_ = std::make_unique<model::OutputJoiner>(style, writer(*out_));
    err_joiner_ = std::make_unique<model::OutputJoiner>(style, writer(*err_));
    return {};
}

void StepRun::on_hello(std::uint32_t node) {
    if (node >= nodes_.size()) return parts_.server.forget(node);
    nodes_[node].arrived = true;
    if (end_cause_) send_end_order(node);
    for (const pmi::Hub::Delivery& delivery : std::exchange(undelivered_, {})) deliver(delivery);
    if (!std::ranges::all_of(nodes_, &Node::arrived)) return;
    parts_.server.close_door();
    absent_timer_ = {};
    start_input();
}

void StepRun::on_message(std::uint32_t index, const wire::StepdToSrun& message) {
    if (index >= nodes_.size()) return;
    Node& node = nodes_[index];
    switch (message.body_case()) {
        case wire::StepdToSrun::kStarted:
            return on_started(node, to_vector(message.started().tasks()),
                              message.started().error());
        case wire::StepdToSrun::kOutput:
            return on_output(node.first_task + message.output().task(), message.output().stream(),
                             message.output().data());
        case wire::StepdToSrun::kExited:
            return on_exited(node,
                             {.node = node.name,
                              .tasks = to_set(to_vector(message.exited().tasks()), node.first_task),
                              .wait_status = message.exited().wait_status(),
                              .out_of_memory = message.exited().out_of_memory()});
        case wire::StepdToSrun::kText:
            return on_text(message.text().text());
        case wire::StepdToSrun::kFinished:
            return node_over(node);
        case wire::StepdToSrun::kPmi:
            return on_pmi(index, message.pmi());
        case wire::StepdToSrun::kHello:
        case wire::StepdToSrun::BODY_NOT_SET:
            return;
    }
}

void StepRun::on_started(Node& node, const std::vector<std::uint32_t>& tasks,
                         const std::string& error) {
    if (!error.empty()) return launch_failed(node.name, error);
    table_.start(to_set(tasks, node.first_task));
    explain(request_, fmt::format("Node {}, {} tasks started", node.name, tasks.size()));
}

void StepRun::launch_failed(const std::string& node, const std::string& why) {
    forced_code_ = std::max(forced_code_, error_exit_code());
    say_error("srun",
              fmt::format("Task launch for {} failed on node {}: {}", step_name(), node, why));
    if (aborted_) return;
    say_error("srun", "Application launch failed: " + why);
    abort_step(model::EndCause::Finished);
}

void StepRun::on_output(std::uint32_t task, std::uint32_t stream, std::string_view data) {
    const Stream& wanted = stream == 2 ? streams_.err : streams_.out;
    if (wanted.kind == Stream::Kind::OneTask && wanted.task != task) return;
    (stream == 2 ? *err_joiner_ : *out_joiner_).take(task, data);
}

void StepRun::on_exited(Node& node, const TaskExit& exit) {
    explain(request_,
            fmt::format("Received task exit notification for {} {} of {} (status=0x{:04x}).",
                        exit.tasks.size(), exit.tasks.size() == 1 ? "task" : "tasks", step_name(),
                        exit.wait_status & 0xffff));
    const bool first = !table_.any_ended();
    node.left.erase(exit.tasks);
    table_.end(exit);
    gatherer_.add(exit);
    if (first) first_task_exited();
    // Others may end in the same way in this moment; when none is left there is nothing to wait
    // for.
    if (table_.all_ended()) return tell_exits();
    if (gather_timer_) return;
    const bool kills = request_.launch.kill_on_bad_exit.value_or(false);
    gather_timer_ = loop_.after(kills ? kGatherBeforeKill : kGather, [this] { tell_exits(); });
}

void StepRun::tell_exits() {
    gather_timer_ = {};
    if (table_.all_ended()) terminal_.reset();  // Our own lines want a terminal as it was.
    static const bool brief = [] {
        const char* wish = std::getenv("SLURM_SRUN_REDUCE_TASK_EXIT_MSG");
        return wish != nullptr && std::strcmp(wish, "0") != 0;
    }();
    bool failed = false;
    for (const TaskExit& exit : gatherer_.take()) {
        if (!is_abnormal(exit)) {
            explain(request_, describe(exit));
            continue;
        }
        failed = true;
        if (brief && last_told_status_ == exit.wait_status) continue;
        last_told_status_ = exit.wait_status;
        // What we sent ourselves is no news.
        if (unread_ || (interrupt_sent_ && exit.wait_status == SIGINT)) continue;
        say_error("srun", describe(exit));
    }
    if (failed && request_.launch.kill_on_bad_exit.value_or(false)) terminate_for_failure();
}

// Lines of the stepds themselves. One that says the step is cancelled tells us that we are being
// ended.
void StepRun::on_text(const std::string& text) {
    const bool ends_us = text.find("*** STEP ") != std::string::npos &&
                         text.find(" CANCELLED AT ") != std::string::npos;
    if (ends_us && !terminating_) say_abort_once();
    std::string line = visible_lines(text);
    if (!line.ends_with('\n')) line += '\n';
    if (::write(STDERR_FILENO, line.data(), line.size()) < 0) reader_gone();
}

void StepRun::on_pmi(std::uint32_t node, const wire::PmiMessage& message) {
    if (static_cast<pmi::Kind>(message.kind()) == pmi::Kind::Abort) {
        if (aborted_ || terminating_ || table_.all_ended()) return;
        say_error("srun", fmt::format("{}: {}", step_name(), message.name()));
        return terminate_for_failure();
    }
    for (const pmi::Hub::Delivery& delivery : hub_.take(node, message)) deliver(delivery);
}

void StepRun::deliver(const pmi::Hub::Delivery& delivery) {
    if (!nodes_[delivery.node].arrived) return undelivered_.push_back(delivery);
    wire::SrunToStepd message;
    (void)message.mutable_pmi()->ParseFromString(delivery.message);
    parts_.server.send(delivery.node, message);
}

void StepRun::on_gone(std::uint32_t index) {
    if (index < nodes_.size()) node_lost(nodes_[index]);
}

void StepRun::node_lost(Node& node) {
    if (node.finished || over_) return;
    if (!node.left.empty()) {
        say_error("srun", fmt::format("Node failure on {}", node.name));
        on_exited(node, {.node = node.name,
                         .tasks = node.left,
                         .wait_status = kKilledStatus,
                         .out_of_memory = false});
        if (!request_.job.no_kill && !terminating_) abort_step(model::EndCause::Finished);
    }
    node_over(node);
}

void StepRun::node_over(Node& node) {
    node.finished = true;
    if (std::ranges::all_of(nodes_, &Node::finished)) finish();
}

void StepRun::finish() {
    if (std::exchange(over_, true)) return;
    out_joiner_->end_all();
    err_joiner_->end_all();
    tell_exits();
    if (table_.was_killed() && !told_abort_) inform(request_, "Force Terminated " + step_name());
    loop_.stop();
}

void StepRun::on_reply(const wire::Reply& reply) {
    if (reply.has_owner_notice()) {
        const wire::OwnerNoticeReply& notice = reply.owner_notice();
        const auto kind = static_cast<model::OwnerNotice>(notice.kind());
        if (kind == model::OwnerNotice::TimeLimit || kind == model::OwnerNotice::Cancelled)
            say_abort_once();
        if (kind == model::OwnerNotice::Message) say("srun", notice.text());
        // A node is down; its stepd may not have had the time to say so.
        const auto node = std::ranges::find(nodes_, notice.node(), &Node::name);
        if (kind == model::OwnerNotice::NodeFailed && node != nodes_.end()) node_lost(*node);
        return;
    }
    if (reply.has_job_ended()) {
        // Its stepds tell the rest; those that never came will not come any more.
        for (Node& node : nodes_) {
            if (node.arrived || node.finished) continue;
            say_error("srun", fmt::format("Task launch for {} failed on node {}: {}", step_name(),
                                          node.name, errc_text(Errc::JobFinished)));
            forced_code_ = std::max(forced_code_, error_exit_code());
            node_over(node);
        }
        return;
    }
    if (!reply.has_jobs()) return;
    for (const wire::Step& step : reply.jobs().steps()) {
        const StepKey key = wire::decode(step.key());
        if (key.step != parts_.made.step.key.step || !step.has_end()) continue;
        for (Node& node : nodes_) {
            if (node.arrived || node.finished || node.job != key.job) continue;
            launch_failed(node.name, "the node could not start it");
            node_over(node);
        }
    }
}

// A node that cannot start its part reports so to the controller, not to us.
void StepRun::ask_about_absent() {
    wire::Request request;
    wire::JobsQuery* query = request.mutable_jobs();
    for (const Node& node : nodes_) {
        wire::JobSelector* selector = query->mutable_filter()->add_jobs();
        selector->set_job(node.job.value);
        selector->set_component(true);
    }
    query->set_with_steps(true);
    query->set_all_states(true);
    parts_.link.send(request);
    absent_timer_ = loop_.after(kAbsentAfter, [this] { ask_about_absent(); });
}

void StepRun::start_input() {
    if (std::exchange(input_started_, true)) return;
    const Stream::Kind kind = streams_.in.kind;
    if (kind == Stream::Kind::None || kind == Stream::Kind::OnNodes) return;
    input_ = std::make_unique<InputReader>(
        loop_,
        InputReader::Handlers{.on_data = [this](std::string_view data) { send_input(data, false); },
                              .on_end = [this] { send_input({}, true); },
                              .must_pause =
                                  [this] {
                                      if (parts_.server.unsent_bytes() < kInputUnsentBytesMax)
                                          return false;
                                      parts_.server.on_drained([this] { input_->resume(); });
                                      return true;
                                  }});
    if (!input_file_) return input_->start(STDIN_FILENO);
    input_->start(std::move(input_file_));
}

void StepRun::send_input(std::string_view data, bool end) {
    wire::SrunToStepd message;
    wire::TaskInput* input = message.mutable_input();
    input->set_data(data.data(), data.size());
    input->set_eof(end);
    if (streams_.in.kind != Stream::Kind::OneTask) return parts_.server.send_all(message);
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
        if (!nodes_[i].tasks.contains(streams_.in.task)) continue;
        input->set_task(streams_.in.task - nodes_[i].first_task);
        parts_.server.send(i, message);
    }
}

}  // namespace switchyard::cli
