// stepd_attach.cpp: sattach: others who see the output of the tasks and may speak to them. The step
// is still its srun's: a guest who leaves or does not read changes nothing.
#include <fmt/format.h>

#include <utility>

#include "stepd/stepd.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::stepd {
namespace {

constexpr std::size_t kGuestsMax = 16;
constexpr std::size_t kUnsentBytesMax = 4u << 20;  // A guest who reads no more is sent away.

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

void Stepd::attach(const wire::AttachStep& order) {
    if (stage_ != Stage::Running || launch_.is_batch() || guests_.size() >= kGuestsMax ||
        order.client().io_port() > 0xffff)
        return;
    const std::uint64_t guest = next_guest_++;
    SrunLink::Handlers handlers;
    handlers.ready = [this, guest] {
        std::vector<std::uint32_t> ranks;
        std::vector<pid_t> pids;
        for (const Task& task : tasks_) {
            ranks.push_back(task.global);
            pids.push_back(task.pid);
        }
        guests_.at(guest)->started(ranks, pids);
    };
    handlers.lost = [this, guest](const std::string&) { detach(guest); };
    handlers.input = [this](std::optional<std::uint32_t> task, std::string_view data, bool eof) {
        // Its end is not the end of the input: that is for the srun to say.
        static_cast<void>(eof);
        if (!data.empty() && srun_) on_input(task, data, false);
    };
    handlers.signal = [](int) {};
    handlers.window = [](std::uint16_t, std::uint16_t) {};
    handlers.abort = [](Seconds, std::uint32_t) {};
    auto link =
        std::make_unique<SrunLink>(loop_, launch_, address_of(order.client()), std::move(handlers));
    guests_.emplace(guest, std::move(link)).first->second->connect();
}

// Not at once: it may be the guest's own call that we are in.
void Stepd::detach(std::uint64_t guest) {
    leaving_guests_.push_back(guest);
    guests_timer_ = loop_.after(Millis{0}, [this] {
        for (const std::uint64_t each : std::exchange(leaving_guests_, {})) guests_.erase(each);
    });
}

// A piece of output to all who listen.
void Stepd::hand_out(std::uint32_t task, std::uint32_t stream, std::string_view data) {
    if (srun_) srun_->output(task, stream, data);
    for (const auto& [id, guest] : guests_) {
        guest->output(task, stream, data);
        if (guest->unsent_bytes() > kUnsentBytesMax) detach(id);
    }
}

}  // namespace switchyard::stepd
