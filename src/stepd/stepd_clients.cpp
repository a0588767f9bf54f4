// stepd_clients.cpp: between the tasks and those who see their output and speak to them.
#include <fmt/format.h>

#include "model/step.hpp"
#include "stepd/stepd.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::stepd {
namespace {

constexpr std::size_t kInputBytesMax = 4u << 20;  // Then srun waits.

SrunAddress address_of(const wire::AttachStepRequest& client) {
    SrunAddress address;
    address.host = client.io_host();
    address.addresses.assign(client.io_addresses().begin(), client.io_addresses().end());
    address.port = static_cast<std::uint16_t>(client.io_port());
    address.unix_path = client.io_unix_path();
    address.key = client.io_key();
    return address;
}

}  // namespace

void Stepd::on_srun_lost(const std::string& why) {
    if (stage_ == Stage::Connecting || stage_ == Stage::Preparing) return fail_launch(why);
    log_.info(fmt::format("{}: srun is gone: {}", model::to_string(launch_.key), why));
    if (has_tasks()) return end(model::EndCause::Finished, launch_.kill_wait);
    if (stage_ == Stage::Delivering) conclude();
}

void Stepd::on_input(std::optional<std::uint32_t> to, std::string_view data, bool eof) {
    std::size_t most = 0;
    for (Task& task : tasks_) {
        if (!task.streams || !task.streams->takes_input() || (to && *to != task.global)) continue;
        TaskPipes& pipes = task.streams->pipes();
        pipes.write(data);
        if (eof) pipes.close_input();
        most = std::max(most, pipes.unwritten_bytes());
        pipes.on_written([this] { clients_.srun()->pause_input(false); });
    }
    if (most > kInputBytesMax) clients_.srun()->pause_input(true);
}

void Stepd::on_output(std::uint32_t task, std::uint32_t stream, std::string_view data) {
    clients_.output(task, stream, data);
    if (!clients_.is_behind()) return;
    pause_output(true);
    clients_.on_drained([this] { pause_output(false); });
}

void Stepd::pause_output(bool paused) {
    for (Task& task : tasks_) {
        if (task.streams) task.streams->pipes().pause(paused);
    }
}

void Stepd::set_window(std::uint16_t rows, std::uint16_t cols) {
    for (Task& task : tasks_) {
        if (task.streams && task.streams->pipes().terminal() >= 0)
            os::set_window_size(task.streams->pipes().terminal(), rows, cols);
    }
}

void Stepd::tell_tasks(SrunLink& client) const {
    std::vector<std::uint32_t> ranks;
    std::vector<pid_t> pids;
    for (const Task& task : tasks_) {
        ranks.push_back(task.global);
        pids.push_back(task.pid);
    }
    client.started(ranks, pids);
}

void Stepd::attach(const wire::AttachStep& order) {
    if (!has_tasks() || launch_.is_batch() || order.client().io_port() > 0xffff) return;
    clients_.attach(address_of(order.client()),
                    {.ready = [this](SrunLink& client) { tell_tasks(client); },
                     .input =
                         [this](std::optional<std::uint32_t> task, std::string_view data) {
                             if (clients_.srun()) on_input(task, data, false);
                         }});
}

}  // namespace switchyard::stepd
