#include "stepd/step_clients.hpp"

#include <algorithm>
#include <utility>

namespace switchyard::stepd {
namespace {

constexpr std::size_t kAttachedMax = 16;
// Then the tasks' output waits in their pipes for srun, and an attached client is sent away.
constexpr std::size_t kUnsentBytesMax = 4u << 20;
constexpr std::size_t kKeptBytesMax = 64u << 10;  // For those who attach later.

}  // namespace

void StepClients::connect_srun(SrunLink::Handlers handlers) {
    srun_ = std::make_unique<SrunLink>(loop_, launch_, launch_.command.srun, std::move(handlers));
    srun_->connect();
}

void StepClients::attach(SrunAddress client, Attached attached) {
    if (attached_.size() >= kAttachedMax) return;
    const std::uint64_t id = next_++;
    SrunLink::Handlers handlers;
    handlers.ready = [this, id, ready = std::move(attached.ready)] {
        SrunLink& link = *attached_.at(id);
        ready(link);
        for (const Piece& piece : kept_) link.output(piece.task, piece.stream, piece.data);
    };
    handlers.lost = [this, id](const std::string&) { detach(id); };
    handlers.input = [input = std::move(attached.input)](std::optional<std::uint32_t> task,
                                                         std::string_view data, bool) {
        // Its end is not the end of the input: that is for the srun to say.
        if (!data.empty()) input(task, data);
    };
    handlers.signal = [](int) {};
    handlers.window = [](std::uint16_t, std::uint16_t) {};
    handlers.abort = [](Seconds, std::uint32_t) {};
    auto link = std::make_unique<SrunLink>(loop_, launch_, std::move(client), std::move(handlers));
    attached_.emplace(id, std::move(link)).first->second->connect();
}

// Not at once: it may be the client's own call that we are in.
void StepClients::detach(std::uint64_t client) {
    leaving_.push_back(client);
    leaving_timer_ = loop_.after(Millis{0}, [this] {
        for (const std::uint64_t each : std::exchange(leaving_, {})) attached_.erase(each);
    });
}

// Whole pieces, and of the oldest of them whole lines.
void StepClients::keep(Piece piece) {
    kept_bytes_ += piece.data.size();
    kept_.push_back(std::move(piece));
    if (kept_bytes_ <= kKeptBytesMax) return;
    while (kept_bytes_ > kKeptBytesMax && kept_.size() > 1) {
        kept_bytes_ -= kept_.front().data.size();
        kept_.pop_front();
    }
    std::string& oldest = kept_.front().data;
    const std::size_t surplus = kept_bytes_ - std::min(kept_bytes_, kKeptBytesMax);
    const std::size_t end_of_line = oldest.find('\n', surplus);
    const std::size_t cut = end_of_line == std::string::npos ? surplus : end_of_line + 1;
    oldest.erase(0, cut);
    kept_bytes_ -= std::min(kept_bytes_, cut);
}

void StepClients::output(std::uint32_t task, std::uint32_t stream, std::string_view data) {
    keep({task, stream, std::string(data)});
    if (srun_) srun_->output(task, stream, data);
    for (const auto& [id, client] : attached_) {
        client->output(task, stream, data);
        if (client->unsent_bytes() > kUnsentBytesMax) detach(id);
    }
}

void StepClients::exited(const std::vector<std::uint32_t>& tasks, int wait_status,
                         bool out_of_memory) {
    if (srun_) srun_->exited(tasks, wait_status, out_of_memory);
    for (const auto& [id, client] : attached_) client->exited(tasks, wait_status, out_of_memory);
}

bool StepClients::is_behind() const { return srun_ && srun_->unsent_bytes() > kUnsentBytesMax; }

void StepClients::on_drained(std::function<void()> drained) {
    if (srun_) srun_->on_drained(std::move(drained));
}

void StepClients::finish(std::function<void()> then) {
    for (const auto& [id, client] : attached_) client->finished();
    if (!srun_) return then();
    srun_->finished();
    srun_->on_drained([this, then = std::move(then)] {
        srun_has_all_ = true;
        then();
    });
}

}  // namespace switchyard::stepd
