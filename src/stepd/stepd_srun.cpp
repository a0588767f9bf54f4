// stepd_srun.cpp: between the tasks and the srun that waits for them.
#include <fmt/format.h>

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
    srun_ = std::make_unique<SrunLink>(loop_, launch_, launch_.command.srun, std::move(handlers));
    srun_->connect();
}

void Stepd::on_srun_lost(const std::string& why) {
    if (stage_ == Stage::Connecting) return fail_launch(why);
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
    if (srun_->unsent_bytes() <= kUnsentBytesMax) return;
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
