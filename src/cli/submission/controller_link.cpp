#include "cli/submission/controller_link.hpp"

#include <sys/epoll.h>

#include <chrono>
#include <thread>
#include <utility>

#include "wire/proto/request.pb.h"

namespace switchyard::cli {
namespace {

constexpr Millis kRetryEvery{500};
constexpr Seconds kPatience{10};
constexpr Millis kPauseBetweenCalls{200};

}  // namespace

Result<wire::Reply> call_patiently(client::Connection& connection, wire::Request& request) {
    const auto give_up_at = std::chrono::steady_clock::now() + kPatience;
    while (true) {
        auto reply = connection.call(request);
        const bool away = !reply && reply.error().code == Errc::Unreachable;
        if (!away || std::chrono::steady_clock::now() > give_up_at) return reply;
        std::this_thread::sleep_for(kPauseBetweenCalls);
    }
}

ControllerLink::ControllerLink(io::Loop& loop, Session session, std::string program)
    : loop_(loop), session_(std::move(session)), program_(std::move(program)) {}

Result<wire::Reply> ControllerLink::call(wire::Request& request) {
    watch_ = {};  // The descriptor may change.
    auto reply = call_patiently(session_.connection, request);
    if (listening_) watch();
    return reply;
}

void ControllerLink::send(wire::Request& request) {
    if (!connected_) return;
    if (const auto sent = session_.connection.send(request); !sent) lost();
}

void ControllerLink::listen(OnReply on_reply, std::function<void()> on_back) {
    on_reply_ = std::move(on_reply);
    on_back_ = std::move(on_back);
    listening_ = true;
    if (connected_) watch();
}

void ControllerLink::stop_listening() {
    listening_ = false;
    watch_ = {};
    retry_ = {};
}

void ControllerLink::watch() {
    watch_ =
        loop_.watch(session_.connection.fd(), EPOLLIN, [this](std::uint32_t) { read_replies(); });
    // What call() read beyond its own answer does not make the descriptor readable.
    if (session_.connection.has_buffered_reply()) {
        loop_.post([this] {
            if (listening_ && connected_) read_replies();
        });
    }
}

void ControllerLink::read_replies() {
    while (listening_ && connected_) {
        const auto reply = session_.connection.receive(Millis{0});
        if (!reply && reply.error().code == Errc::Timeout) return;
        if (!reply) {
            lost();
            return;
        }
        on_reply_(*reply);
    }
}

void ControllerLink::lost() {
    connected_ = false;
    watch_ = {};
    retry_ = loop_.after(Millis{20}, [this] { try_again(); });
}

void ControllerLink::try_again() {
    auto connection = client::Connection::open(session_.config, program_, Millis{0});
    if (!connection) {
        retry_ = loop_.after(kRetryEvery, [this] { try_again(); });
        return;
    }
    session_.connection = *std::move(connection);
    connected_ = true;
    if (listening_) watch();
    if (on_back_) on_back_();
}

}  // namespace switchyard::cli
