// step_server.hpp: where the stepds of a step find their srun: a unix socket for those on this
// host, TLS for the others, both proved by the step's one-time key. After its hello a stepd is
// known by its place in the step.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/line_limit.hpp"
#include "base/result.hpp"
#include "io/loop.hpp"
#include "wire/channel.hpp"

namespace switchyard::wire {
class StepHello;
class StepLaunch;
class StepdToSrun;
class SrunToStepd;
}  // namespace switchyard::wire

namespace switchyard::cli {

class StepServer {
  public:
    struct Handlers {
        std::function<void(std::uint32_t node)> on_hello;
        std::function<void(std::uint32_t node, const wire::StepdToSrun& message)> on_message;
        std::function<void(std::uint32_t node)> on_gone;
        // The number of a stepd among all; none: its place in its step.
        std::function<std::uint32_t(const wire::StepHello& hello)> place = {};
    };

    static Result<std::unique_ptr<StepServer>> open(io::Loop& loop);
    ~StepServer();

    // Address and key, for the nodes.
    void describe(wire::StepLaunch& launch) const;
    // From now on stepds are heard. Those that came earlier were kept waiting.
    void serve(Handlers handlers);
    // No more stepds will come: the way in is closed and its files are gone.
    void close_door();

    void send(std::uint32_t node, const wire::SrunToStepd& message);
    void send_all(const wire::SrunToStepd& message);
    std::size_t unsent_bytes() const;
    void on_drained(const std::function<void()>& callback);
    void forget(std::uint32_t node);

  private:
    struct Guest {
        std::unique_ptr<wire::Channel> channel;
        bool opened = false;                // Connected; over TLS it has proved the key.
        std::optional<std::uint32_t> node;  // After its hello.
        io::Loop::Timer patience;           // For its hello.
    };

    StepServer(io::Loop& loop, std::string key) : loop_(loop), key_(std::move(key)) {}
    Status listen_on_unix();
    void accept_unix(io::Fd socket);
    void accept_tls(io::Fd socket);
    wire::Channel::Handlers handlers_for(std::uint64_t guest);
    void take(std::uint64_t guest, std::string_view frame);
    void gone(std::uint64_t guest, const Error& why);
    void admit(std::uint64_t guest, std::unique_ptr<wire::Channel> channel);
    void expect_hello(std::uint64_t id, Guest& guest);
    void welcome(std::uint64_t guest, const wire::StepdToSrun& message);

    io::Loop& loop_;
    std::string key_, folder_;
    std::unique_ptr<wire::Listener> unix_, tcp_;
    Handlers handlers_;
    LineLimit stranger_lines_{10};
    bool serving_ = false;
    std::uint64_t next_guest_ = 1;
    std::map<std::uint64_t, Guest> guests_;
    std::map<std::uint32_t, std::uint64_t> by_node_;
};

}  // namespace switchyard::cli
