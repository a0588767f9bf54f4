#include "stepd/srun_link.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "os/machine.hpp"
#include "stepd/hosts.hpp"
#include "wire/codec.hpp"
#include "wire/key.hpp"
#include "wire/proto/step_io.pb.h"

namespace switchyard::stepd {
namespace {

constexpr const char* kStepIdentity = "step";

}  // namespace

SrunLink::SrunLink(io::Loop& loop, const Launch& launch, SrunAddress address, Handlers handlers)
    : loop_(loop), launch_(launch), address_(std::move(address)), handlers_(std::move(handlers)) {}

void SrunLink::connect() { try_next(); }

wire::Channel::Handlers SrunLink::channel_handlers() {
    wire::Channel::Handlers handlers;
    handlers.on_frame = [this](std::string_view frame) { on_frame(frame); };
    handlers.on_close = [this](const Error& why) { on_close(why); };
    handlers.on_ready = [this] { on_ready(); };
    return handlers;
}

void SrunLink::try_next() {
    const SrunAddress& srun = address_;
    if (attempt_ == 0) {
        ++attempt_;
        const bool same_host =
            srun.host.empty() || srun.host.substr(0, srun.host.find('.')) == os::host_name();
        if (!srun.unix_path.empty() && same_host) {
            dialling_ = std::make_unique<UserSocket>(
                loop_, srun.unix_path, launch_.who,
                [this](Result<io::Fd> socket) { on_dialled(std::move(socket)); });
            return;
        }
    }
    // A name would be looked up, as long as that takes: srun sends none.
    while (attempt_ <= srun.addresses.size() && !is_numeric(srun.addresses[attempt_ - 1]))
        ++attempt_;
    if (attempt_ > std::min(srun.addresses.size(), limits::kSrunAddressesMax) || srun.port == 0) {
        return handlers_.lost(fmt::format("cannot reach srun on {}: {}", srun.host, last_error_));
    }
    const std::string& address = srun.addresses[attempt_++ - 1];
    attach(wire::Channel::connect_tls(loop_, address, srun.port, wire::kStepdToSrun,
                                      {kStepIdentity, srun.key}, channel_handlers()));
}

void SrunLink::on_dialled(Result<io::Fd> socket) {
    dialling_.reset();
    if (socket)
        return attach(wire::Channel::adopt(loop_, *std::move(socket), wire::kStepdToSrun,
                                           channel_handlers()));
    last_error_ = socket.error().message;
    try_next();
}

void SrunLink::on_ready() {
    open_ = true;
    wire::StepdToSrun message;
    wire::StepHello& hello = *message.mutable_hello();
    wire::encode_key(launch_.key, hello.mutable_key());
    hello.set_node(launch_.node);
    hello.set_node_index(launch_.node_index);
    hello.set_proof(wire::stepd_proof(address_.key));
    send(message);
    handlers_.ready();
}

void SrunLink::on_close(const Error& why) {
    const bool was_open = std::exchange(open_, false);
    channel_.reset();
    proven_ = false;
    last_error_ = why.message;
    if (was_open) return handlers_.lost(why.message);
    try_next();
}

void SrunLink::on_frame(std::string_view frame) {
    wire::SrunToStepd message;
    if (!message.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) return;
    // Whoever holds srun's socket, but not its key, orders nothing.
    if (!proven_) {
        proven_ = address_.key.size() == wire::kKeyBytes &&
                  wire::same_secret(message.hello().proof(), wire::srun_proof(address_.key));
        if (!proven_) on_close({Errc::AccessDenied, "srun did not prove that it holds the key"});
        return;
    }
    switch (message.body_case()) {
        case wire::SrunToStepd::kInput: {
            const wire::TaskInput& input = message.input();
            std::optional<std::uint32_t> task;
            if (input.has_task()) task = input.task();
            return handlers_.input(task, input.data(), input.eof());
        }
        case wire::SrunToStepd::kSignal:
            return handlers_.signal(message.signal().signal());
        case wire::SrunToStepd::kWindow:
            return handlers_.window(static_cast<std::uint16_t>(message.window().rows()),
                                    static_cast<std::uint16_t>(message.window().cols()));
        case wire::SrunToStepd::kAbort:
            return handlers_.abort(Seconds{message.abort().grace()}, message.abort().cause());
        case wire::SrunToStepd::kPmi:
            if (handlers_.pmi) handlers_.pmi(message.pmi());
            return;
        case wire::SrunToStepd::kHello:
        case wire::SrunToStepd::BODY_NOT_SET:
            return;
    }
}

void SrunLink::send(const wire::StepdToSrun& message) {
    if (open_) channel_->send(message.SerializeAsString());
}

void SrunLink::started(const std::vector<std::uint32_t>& tasks, const std::vector<pid_t>& pids) {
    wire::StepdToSrun message;
    wire::TasksStarted& started = *message.mutable_started();
    for (const std::uint32_t task : tasks) started.add_tasks(task);
    for (const pid_t pid : pids) started.add_pids(static_cast<std::uint32_t>(pid));
    send(message);
}

void SrunLink::failed_to_start(const std::string& error) {
    wire::StepdToSrun message;
    message.mutable_started()->set_error(error);
    send(message);
}

void SrunLink::output(std::uint32_t task, std::uint32_t stream, std::string_view data) {
    wire::StepdToSrun message;
    wire::TaskOutput& output = *message.mutable_output();
    output.set_task(task);
    output.set_stream(stream);
    output.set_data(data.data(), data.size());
    send(message);
}

void SrunLink::exited(const std::vector<std::uint32_t>& tasks, int wait_status,
                      bool out_of_memory) {
    wire::StepdToSrun message;
    wire::TaskExited& exited = *message.mutable_exited();
    for (const std::uint32_t task : tasks) exited.add_tasks(task);
    exited.set_wait_status(wait_status);
    exited.set_out_of_memory(out_of_memory);
    send(message);
}

void SrunLink::text(const std::string& line) {
    wire::StepdToSrun message;
    message.mutable_text()->set_text(line);
    send(message);
}

void SrunLink::pmi(const wire::PmiMessage& pmi) {
    wire::StepdToSrun message;
    *message.mutable_pmi() = pmi;
    send(message);
}

void SrunLink::finished() {
    wire::StepdToSrun message;
    message.mutable_finished();
    send(message);
}

void SrunLink::on_drained(std::function<void()> callback) {
    if (!open_) return callback();
    channel_->on_drained(std::move(callback));
}

void SrunLink::pause_input(bool paused) {
    if (open_) channel_->pause_reading(paused);
}

}  // namespace switchyard::stepd
