// srun_link.hpp: the connection of a step to the srun that waits for it (step_io.proto).
//
// On one host over srun's unix socket, as the user; else over TLS with the step's one-time key,
// address by address. That is also the way to an srun of root, whose socket the user cannot reach.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "base/time.hpp"
#include "io/loop.hpp"
#include "stepd/launch.hpp"
#include "stepd/user_socket.hpp"
#include "wire/channel.hpp"

namespace switchyard::wire {
class PmiMessage;
class StepdToSrun;
class SrunToStepd;
}  // namespace switchyard::wire

namespace switchyard::stepd {

class SrunLink {
  public:
    struct Handlers {
        std::function<void()> ready;
        std::function<void(const std::string& why)> lost;  // Also when it could never be reached.
        std::function<void(std::optional<std::uint32_t> task, std::string_view data, bool eof)>
            input;
        std::function<void(int signal)> signal;
        std::function<void(std::uint16_t rows, std::uint16_t cols)> window;
        std::function<void(Seconds grace, std::uint32_t cause)> abort;
        std::function<void(const wire::PmiMessage& message)> pmi;
    };
    SrunLink(io::Loop& loop, const Launch& launch, SrunAddress address, Handlers handlers);

    void connect();

    void started(const std::vector<std::uint32_t>& tasks, const std::vector<pid_t>& pids);
    void failed_to_start(const std::string& error);
    void output(std::uint32_t task, std::uint32_t stream,
                std::string_view data);  // Empty: the end.
    void exited(const std::vector<std::uint32_t>& tasks, int wait_status, bool out_of_memory);
    void text(const std::string& line);
    void pmi(const wire::PmiMessage& message);
    void finished();

    std::size_t unsent_bytes() const { return channel_ ? channel_->unsent_bytes() : 0; }
    void on_drained(std::function<void()> callback);
    void pause_input(bool paused);

  private:
    void try_next();
    void attach(std::unique_ptr<wire::Channel> channel) { channel_ = std::move(channel); }
    void on_frame(std::string_view frame);
    void on_dialled(Result<io::Fd> socket);
    void on_ready();
    void on_close(const Error& why);
    void send(const wire::StepdToSrun& message);
    wire::Channel::Handlers channel_handlers();

    io::Loop& loop_;
    const Launch& launch_;
    SrunAddress address_;
    Handlers handlers_;
    std::unique_ptr<UserSocket> dialling_;
    std::unique_ptr<wire::Channel> channel_;
    std::size_t attempt_ = 0;  // 0: the unix socket, then the addresses.
    bool open_ = false;
    bool proven_ = false;  // That it is the srun that holds the key.
    std::string last_error_ = "no address";
};

}  // namespace switchyard::stepd
