#include "cli/submit/srun_server.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "wire/proto/request.pb.h"
#include "wire/proto/step_io.pb.h"

namespace switchyard::cli::submit {
namespace {

constexpr std::size_t kKeyBytes = 32;
constexpr std::string_view kIdentity = "step";
constexpr std::string_view kSocketName = "/srun.sock";

bool same_bytes(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned char difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        difference |= static_cast<unsigned char>(a[i] ^ b[i]);
    return difference == 0;
}

// Addresses under which this host may be reached, those of real interfaces first.
std::vector<std::string> own_addresses() {
    std::vector<std::string> outside, loopback;
    ifaddrs* list = nullptr;
    if (::getifaddrs(&list) != 0) return {"127.0.0.1"};
    for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
        char text[INET6_ADDRSTRLEN] = {};
        if (each->ifa_addr->sa_family == AF_INET) {
            const auto* address = reinterpret_cast<const sockaddr_in*>(each->ifa_addr);
            ::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text);
        } else if (each->ifa_addr->sa_family == AF_INET6) {
            const auto* address = reinterpret_cast<const sockaddr_in6*>(each->ifa_addr);
            if (IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)) continue;
            ::inet_ntop(AF_INET6, &address->sin6_addr, text, sizeof text);
        } else {
            continue;
        }
        ((each->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : outside).emplace_back(text);
    }
    ::freeifaddrs(list);
    outside.insert(outside.end(), loopback.begin(), loopback.end());
    return outside;
}

std::string full_host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "localhost";
}

}  // namespace

Result<std::unique_ptr<StepServer>> StepServer::open(io::Loop& loop) {
    std::unique_ptr<StepServer> server(new StepServer(loop));
    SY_CHECK(server->make_key());
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

Status StepServer::make_key() {
    key_.resize(kKeyBytes);
    if (::getrandom(key_.data(), key_.size(), 0) != static_cast<ssize_t>(key_.size())) {
        return fail(Errc::Io, fmt::format("cannot make a key: {}", std::strerror(errno)));
    }
    return {};
}

// Stepds connect as root or as the user, so a folder that only the user may enter will do.
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
    launch.set_io_host(full_host_name());
    for (std::string& address : own_addresses()) launch.add_io_addresses(std::move(address));
    launch.set_io_port(tcp_->port());
    if (!folder_.empty()) launch.set_io_unix_path(folder_ + std::string(kSocketName));
    launch.set_io_key(key_);
}

wire::Channel::Handlers StepServer::handlers_for(std::uint64_t guest) {
    return {.on_frame = [this, guest](std::string_view frame) { take(guest, frame); },
            .on_close = [this, guest](const Error&) { gone(guest); },
            .on_ready = {}};
}

void StepServer::accept_unix(io::Fd socket) {
    const std::uint64_t id = next_guest_++;
    auto channel = wire::Channel::adopt(loop_, std::move(socket), handlers_for(id));
    const auto peer = channel->peer();
    if (!peer || (peer->uid != 0 && peer->uid != ::getuid())) return;
    if (!serving_) channel->pause_reading(true);
    guests_[id].channel = std::move(channel);
}

void StepServer::accept_tls(io::Fd socket) {
    const std::uint64_t id = next_guest_++;
    auto channel = wire::Channel::adopt_tls_server(
        loop_, std::move(socket), {std::string(kIdentity), key_}, handlers_for(id));
    if (!serving_) channel->pause_reading(true);
    guests_[id].channel = std::move(channel);
}

void StepServer::serve(Handlers handlers) {
    handlers_ = std::move(handlers);
    serving_ = true;
    for (auto& [id, guest] : guests_) guest.channel->pause_reading(false);
}

// The first message must be a hello that knows the key.
bool StepServer::welcome(std::uint64_t guest, const wire::StepdToSrun& message) {
    if (!message.has_hello() || !same_bytes(message.hello().proof(), key_)) {
        guests_.erase(guest);
        return false;
    }
    const std::uint32_t node =
        handlers_.place ? handlers_.place(message.hello()) : message.hello().node_index();
    if (by_node_.contains(node)) {
        guests_.erase(guest);
        return false;
    }
    guests_[guest].node = node;
    by_node_[node] = guest;
    handlers_.on_hello(node);
    return true;
}

void StepServer::take(std::uint64_t guest, std::string_view frame) {
    const auto found = guests_.find(guest);
    if (found == guests_.end()) return;
    wire::StepdToSrun message;
    if (!message.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) return;
    if (!found->second.node) {
        welcome(guest, message);
        return;
    }
    handlers_.on_message(*found->second.node, message);
}

void StepServer::gone(std::uint64_t guest) {
    const auto found = guests_.find(guest);
    if (found == guests_.end()) return;
    const auto node = found->second.node;
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

}  // namespace switchyard::cli::submit
