// stepd.cpp: from the launch to running tasks.
#include "stepd/stepd.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "pmi/server.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::stepd {
Stepd::Stepd(io::Loop& loop, io::Fd agent, io::Fd listener)
    : loop_(loop),
      agent_(loop, std::move(agent), std::move(listener),
             [this](const wire::AgentToStepd& message) { receive(message); }),
      clients_(loop, launch_),
      usage_(loop),
      time_limit_(loop, launch_,
                  {.over = [this] { on_time_limit(); },
                   .warn = [this](int signal) { signal_tasks(signal); }}) {
    child_watch_ = loop_.on_signal(SIGCHLD, [this] { reap(); });
    // An agent that dies before it said what to do leaves nothing to do: the next one will not say
    // it either, even if it has come already.
    agent_.on_first_closed([this] {
        if (stage_ != Stage::Waiting) return;
        agent_.forget();
        loop_.stop();
    });
}

Stepd::~Stepd() = default;

void Stepd::receive(const wire::AgentToStepd& message) {
    using Body = wire::AgentToStepd;
    if (message.body_case() == Body::kLaunch) {
        if (stage_ == Stage::Waiting) start(message);
        return;
    }
    switch (message.body_case()) {
        case Body::kSignal:
            return on_signal_order(message.signal());
        case Body::kEnd:
            if (message.end().announce())
                return announce(static_cast<model::EndCause>(message.end().cause()),
                                message.end().grace() == 0);
            return end(static_cast<model::EndCause>(message.end().cause()),
                       Seconds{message.end().grace()});
        case Body::kDeadline:
            return time_limit_.set_deadline(
                message.deadline().has_deadline()
                    ? std::optional(Instant{Millis{message.deadline().deadline()}})
                    : std::nullopt);
        case Body::kFreeze:
            if (message.freeze().thaw()) return resume();
            return suspend(Seconds{message.freeze().grace()});
        case Body::kEndKnown:
            if (stage_ != Stage::Over) return;
            agent_.forget();
            return loop_.stop();
        case Body::kPids:
            return answer_pids(message.pids());
        case Body::kStatus:
            return send_status();
        case Body::kAttachStep:
            return attach(message.attach_step());
        case Body::kNotify:
            return say(message.notify().text());
        case Body::kLaunch:
        case Body::BODY_NOT_SET:
            return;
    }
}

void Stepd::start(const wire::AgentToStepd& message) {
    auto launch = read_launch(message);
    if (!launch) {
        launch_.key = wire::decode(message.launch().key());
        return fail_launch(launch.error().message);
    }
    launch_ = *std::move(launch);
    time_limit_.set_deadline(launch_.deadline);
    stage_ = Stage::Connecting;
    if (const Status ready = prepare(); !ready) return fail_launch(ready.error().message);
    if (launch_.has_srun()) return connect_srun();
    prepare_tasks();
}

Status Stepd::prepare() {
    walls_ = os::make_containment(launch_.setup.containment,
                                  [this](const StepKey&) { return launch_.who.uid; });
    setup_.emplace(
        setup::Step{.loop = loop_,
                    .launch = launch_,
                    .walls = *walls_,
                    .log = log_,
                    .send_pmi =
                        [this](const wire::PmiMessage& message) {
                            if (clients_.srun()) clients_.srun()->pmi(message);
                        },
                    .pmi_ready = [this](const Status& status) { on_pmi_ready(status); }});
    return setup::prepare_node(*setup_);
}

void Stepd::connect_srun() {
    SrunLink::Handlers handlers;
    handlers.ready = [this] {
        if (stage_ == Stage::Connecting) prepare_tasks();
    };
    handlers.lost = [this](const std::string& why) { on_srun_lost(why); };
    handlers.input = [this](std::optional<std::uint32_t> task, std::string_view data, bool eof) {
        on_input(task, data, eof);
    };
    handlers.signal = [this](int signal) { signal_tasks(signal); };
    handlers.window = [this](std::uint16_t rows, std::uint16_t cols) { set_window(rows, cols); };
    handlers.abort = [this](Seconds grace, std::uint32_t cause) {
        abort(static_cast<model::EndCause>(cause), grace);
    };
    handlers.pmi = [this](const wire::PmiMessage& message) {
        if (setup_->pmi) setup_->pmi->receive(message);
    };
    clients_.connect_srun(std::move(handlers));
}

void Stepd::prepare_tasks() {
    stage_ = Stage::Preparing;
    const Status ready = setup::prepare_tasks(*setup_);
    for (const std::string& complaint : setup_->complaints) say(complaint);
    if (!ready) return cannot_start(ready.error().message);
    tasks_.resize(launch_.is_batch() ? 1 : launch_.here().tasks.size());
    if (!setup_->pmi) begin_tasks();
}

void Stepd::on_pmi_ready(const Status& status) {
    if (stage_ != Stage::Preparing) return;
    if (!status) return cannot_start(status.error().message);
    begin_tasks();
}

void Stepd::begin_tasks() {
    stage_ = Stage::Beginning;
    time_limit_.begin();
    usage_.begin(*walls_, launch_.key, launch_.sample_period, [this] { send_status(); });
    watch_memory();
    begin_from(0);
}

void Stepd::fail_launch(const std::string& why) {
    log_.error(fmt::format("{}: {}", model::to_string(launch_.key), why));
    outcome_.launch_error = why;
    if (walls_) {
        stage_ = Stage::Emptying;
        return empty_out();
    }
    conclude();
}

void Stepd::say(const std::string& text) {
    const std::string line = os::log_line("error: ", text);
    if (clients_.srun()) clients_.srun()->text(line);
    if (messages_) [[maybe_unused]]
        const ssize_t sent = ::write(messages_.get(), line.data(), line.size());
}

}  // namespace switchyard::stepd
