// stepd_srun.cpp: between the tasks and the srun that waits for them.
#include <fmt/format.h>

#include "model/step.hpp"
#include "pmi/server.hpp"
#include "stepd/stepd.hpp"

namespace switchyard::stepd {
namespace {

constexpr std::size_t kUnsentBytesMax = 4u << 20;  // Then the tasks' output waits in their pipes.
constexpr std::size_t kInputBytesMax = 4u << 20;   // Then srun waits.

}  // namespace

void Stepd::connect_srun() {
    SrunLink::Handlers handlers;
    handlers.ready = [this] {
        if (stage_ == Stage::Connecting) run_tasks();
    };
    handlers.lost = [this](const std::string& why) { on_srun_lost(why); };
    handlers.input = [this](std::optional<std::uint32_t> task, std::string_view data, bool eof) {
        on_input(task, data, eof);
    };
    handlers.signal = [this](int signal) { signal_tasks(signal); };
    handlers.window = [this](std::uint16_t rows, std::uint16_t cols) {
        for (const Task& task : tasks_) {
            if (task.pipes && task.pipes->terminal() >= 0)
                os::set_window_size(task.pipes->terminal(), rows, cols);
        }
    };
    handlers.abort = [this](Seconds grace, std::uint32_t cause) {
        abort(static_cast<Cause>(cause), grace);
    };
    handlers.pmi = [this](const wire::PmiMessage& message) {
        if (pmi_) pmi_->receive(message);
    };
    srun_ = std::make_unique<SrunLink>(loop_, launch_, launch_.command.srun, std::move(handlers));
    srun_->connect();
}

// Before the first task: all of them find the server of their MPI.
Status Stepd::open_pmi() {
    if (pmi::is_none(launch_.command.mpi)) return {};
    if (launch_.het) {
        return fail(Errc::Unsupported,
                    "--mpi is not served to heterogeneous steps: use --mpi=none");
    }
    pmi::Place place;
    place.step = model::to_string(launch_.key);
    for (const model::StepNode& node : launch_.layout.nodes) {
        place.nodes.push_back({node.grant.node, node.tasks});
        place.universe_size += node.grant.cpus;
    }
    place.node_index = launch_.node_index;
    place.uid = launch_.who.uid;
    place.gid = launch_.who.gid;
    place.folder = launch_.setup.spool;
    SY_TRY(pmi_,
           pmi::make_server(
               launch_.command.mpi, loop_, std::move(place),
               [this](const wire::PmiMessage& message) { srun_->pmi(message); },
               [this](const Status& status) { on_pmi_ready(status); }));
    return {};
}

void Stepd::on_pmi_ready(const Status& status) {
    if (stage_ != Stage::Preparing) return;
    if (!status) return cannot_start(status.error().message);
    begin_tasks();
}

void Stepd::on_srun_lost(const std::string& why) {
    if (stage_ == Stage::Connecting || stage_ == Stage::Preparing) return fail_launch(why);
    log_.info(fmt::format("{}: srun is gone: {}", model::to_string(launch_.key), why));
    if (stage_ == Stage::Running) return end(Cause::Finished, launch_.kill_wait);
    if (stage_ == Stage::Delivering) conclude();
}

void Stepd::on_input(std::optional<std::uint32_t> to, std::string_view data, bool eof) {
    std::size_t most = 0;
    for (Task& task : tasks_) {
        if (!task.pipes || !takes_input(task) || (to && *to != task.global)) continue;
        task.pipes->write(data);
        if (eof) task.pipes->close_input();
        most = std::max(most, task.pipes->unwritten_bytes());
        task.pipes->on_written([this] { srun_->pause_input(false); });
    }
    if (most > kInputBytesMax) srun_->pause_input(true);
}

void Stepd::throttle() {
    if (!srun_ || srun_->unsent_bytes() <= kUnsentBytesMax) return;
    for (Task& task : tasks_) {
        if (task.pipes) task.pipes->pause(true);
    }
    srun_->on_drained([this] {
        for (Task& task : tasks_) {
            if (task.pipes) task.pipes->pause(false);
        }
    });
}

}  // namespace switchyard::stepd
