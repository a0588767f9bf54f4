#include "cli/step_io/step_server.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "base/limits.hpp"
#include "cli/message.hpp"
#include "os/host.hpp"
#include "wire/key.hpp"
#include "wire/proto/request.pb.h"
#include "wire/proto/step_io.pb.h"

namespace switchyard::cli {
namespace {

// What a guest may cost before it has shown that it knows the key.
constexpr Millis kHelloTimeMax{10'000};
constexpr std::size_t kHelloBytesMax = 4096;
constexpr std::string_view kIdentity = "step";
constexpr std::string_view kSocketName = "/srun.sock";

}  // namespace

Result<std::unique_ptr<StepServer>> StepServer::open(io::Loop& loop) {
    std::unique_ptr<StepServer> server(new StepServer(loop, wire::random_key()));
    SY_CHECK(server->listen_on_unix());
    StepServer* self = server.get();
    const auto accept = [self](io::Fd socket) { self->accept_tls(std::move(socket)); };
    auto tcp = wire::Listener::on_tcp(loop, "::", 0, accept);
    if (!tcp) tcp = wire::Listener::on_tcp(loop, "0.0.0.0", 0, accept);
    if (!tcp) return Failure{tcp.error()};
    server->tcp_ = *std::move(tcp);
    return server;
}

StepServer::~StepServer() { close_door(); }

// Stepds connect as the user, so a folder that only the user may enter will do.
Status StepServer::listen_on_unix() {
    char pattern[] = "/tmp/srun-XXXXXX";
    if (::mkdtemp(pattern) == nullptr) return {};  // Then by TCP.
    folder_ = pattern;
    auto listener =
        wire::Listener::on_unix(loop_, folder_ + std::string(kSocketName), 0600,
                                [this](io::Fd socket) { accept_unix(std::move(socket)); });
    if (!listener) return Failure{listener.error()};
    unix_ = *std::move(listener);
    return {};
}

void StepServer::close_door() {
    unix_.reset();
    tcp_.reset();
    if (folder_.empty()) return;
    ::unlink((folder_ + std::string(kSocketName)).c_str());
    ::unlink((folder_ + std::string(kSocketName) + ".lock").c_str());
    ::rmdir(folder_.c_str());
    folder_.clear();
}

void StepServer::describe(wire::StepLaunch& launch) const {
    launch.set_io_host(os::full_host_name());
    for (std::string& address : os::own_addresses()) launch.add_io_addresses(std::move(address));
    launch.set_io_port(tcp_->port());
    if (!folder_.empty()) launch.set_io_unix_path(folder_ + std::string(kSocketName));
    launch.set_io_key(key_);
}

wire::Channel::Handlers StepServer::handlers_for(std::uint64_t guest) {
    return {.on_frame = [this, guest](std::string_view frame) { take(guest, frame); },
            .on_close = [this, guest](const Error& why) { gone(guest, why); },
            .on_ready =
                [this, guest] {
                    if (const auto it = guests_.find(guest); it != guests_.end())
                        it->second.opened = true;
                }};
}

void StepServer::accept_unix(io::Fd socket) {
    const std::uint64_t id = next_guest_++;
    auto channel =
        wire::Channel::adopt(loop_, std::move(socket), wire::kSrunToStepd, handlers_for(id));
    const auto peer = channel->peer();
    if (!peer || (peer->uid != 0 && peer->uid != ::getuid())) return;
    admit(id, std::move(channel));
}

void StepServer::accept_tls(io::Fd socket) {
    const std::uint64_t id = next_guest_++;
    auto channel =
        wire::Channel::adopt_tls_server(loop_, std::move(socket), wire::kSrunToStepd,
                                        {std::string(kIdentity), key_}, handlers_for(id));
    admit(id, std::move(channel));
}

// One more than we hear at once is hung up on; its stepd says that it cannot reach us.
void StepServer::admit(std::uint64_t id, std::unique_ptr<wire::Channel> channel) {
    if (guests_.size() - by_node_.size() >= limits::kStepGuestsMax) return;
    channel->set_terms({.frame_bytes_max = kHelloBytesMax});
    if (!serving_) channel->pause_reading(true);
    Guest& guest = guests_[id];
    guest.channel = std::move(channel);
    if (serving_) expect_hello(id, guest);
}

void StepServer::expect_hello(std::uint64_t id, Guest& guest) {
    guest.patience = loop_.after(kHelloTimeMax, [this, id] { guests_.erase(id); });
}

void StepServer::serve(Handlers handlers) {
    handlers_ = std::move(handlers);
    serving_ = true;
    for (auto& [id, guest] : guests_) {
        guest.channel->pause_reading(false);
        expect_hello(id, guest);
    }
}

// The first message must be a hello that knows the key. It is answered by our proof of the same.
void StepServer::welcome(std::uint64_t guest, const wire::StepdToSrun& message) {
    const bool proven = wire::same_secret(message.hello().proof(), wire::stepd_proof(key_));
    if (!proven) {
        guests_.erase(guest);
        return;
    }
    const std::uint32_t node =
        handlers_.place ? handlers_.place(message.hello()) : message.hello().node_index();
    if (by_node_.contains(node)) {
        guests_.erase(guest);
        return;
    }
    Guest& known = guests_[guest];
    known.node = node;
    known.patience = {};
    known.channel->set_terms({});
    by_node_[node] = guest;
    wire::SrunToStepd answer;
    answer.mutable_hello()->set_proof(wire::srun_proof(key_));
    known.channel->send(answer.SerializeAsString());
    handlers_.on_hello(node);
}

void StepServer::take(std::uint64_t guest, std::string_view frame) {
    const auto found = guests_.find(guest);
    if (found == guests_.end()) return;
    wire::StepdToSrun message;
    const bool read = message.ParseFromArray(frame.data(), static_cast<int>(frame.size()));
    if (!found->second.node) return welcome(guest, read ? message : wire::StepdToSrun());
    if (!read) return;
    handlers_.on_message(*found->second.node, message);
}

void StepServer::gone(std::uint64_t guest, const Error& why) {
    const auto found = guests_.find(guest);
    if (found == guests_.end()) return;
    const auto node = found->second.node;
    if (!found->second.opened && stranger_lines_.admit(loop_.now())) {
        say("srun", fmt::format("error: TLS handshake with {} failed: {}",
                                found->second.channel->peer_address(), why.message));
    }
    guests_.erase(found);
    if (!node) return;
    by_node_.erase(*node);
    handlers_.on_gone(*node);
}

void StepServer::forget(std::uint32_t node) {
    const auto found = by_node_.find(node);
    if (found == by_node_.end()) return;
    guests_.erase(found->second);
    by_node_.erase(found);
}

void StepServer::send(std::uint32_t node, const wire::SrunToStepd& message) {
    const auto found = by_node_.find(node);
    if (found != by_node_.end()) guests_[found->second].channel->send(message.SerializeAsString());
}

void StepServer::send_all(const wire::SrunToStepd& message) {
    const std::string bytes = message.SerializeAsString();
    for (const auto& [node, guest] : by_node_) guests_[guest].channel->send(bytes);
}

std::size_t StepServer::unsent_bytes() const {
    std::size_t sum = 0;
    for (const auto& [id, guest] : guests_) sum += guest.channel->unsent_bytes();
    return sum;
}

void StepServer::on_drained(const std::function<void()>& callback) {
    for (auto& [id, guest] : guests_) {
        if (guest.channel->unsent_bytes() > 0) return guest.channel->on_drained(callback);
    }
    callback();
}

}  // namespace switchyard::cli
