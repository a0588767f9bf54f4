// wire_round_trips.cpp: how many questions a second one server thread answers, by how they are
// asked.
//
//   wire_round_trips [seconds per row]
//
// The server is an io::Loop with channels, as in the controller; a question is a Ping request of
// wire/proto, parsed and answered. "single" waits for each answer before the next question,
// "pipelined" keeps many in flight.
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "io/loop.hpp"
#include "wire/blocking.hpp"
#include "wire/channel.hpp"
#include "wire/codec.hpp"

namespace {

using namespace switchyard;
using Clock = std::chrono::steady_clock;

const wire::PresharedKey kKey{.identity = "bench", .key = std::string(32, 'k')};

class Server {
  public:
    explicit Server(const std::string& path) {
        unix_ = *wire::Listener::on_unix(loop_, path, 0600, [this](io::Fd socket) {
            add([&](wire::Channel::Handlers h) {
                return wire::Channel::adopt(loop_, std::move(socket), wire::kControllerToClient,
                                            std::move(h));
            });
        });
        tcp_ = *wire::Listener::on_tcp(loop_, "127.0.0.1", 0, [this](io::Fd socket) {
            add([&](wire::Channel::Handlers h) {
                return wire::Channel::adopt_tls_server(
                    loop_, std::move(socket), wire::kControllerToClient, kKey, std::move(h));
            });
        });
        thread_ = std::thread([this] { loop_.run(); });
    }
    ~Server() {
        loop_.stop();
        thread_.join();
    }
    std::uint16_t port() const { return tcp_->port(); }

  private:
    void add(const std::function<std::unique_ptr<wire::Channel>(wire::Channel::Handlers)>& make) {
        const std::size_t index = channels_.size();
        channels_.push_back(
            make({.on_frame = [this, index](std::string_view f) { answer(index, f); },
                  .on_close = [](const Error&) {},
                  .on_ready = {}}));
    }
    void answer(std::size_t index, std::string_view frame) {
        if (!request_.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) std::abort();
        reply_.Clear();
        reply_.set_id(request_.id());
        reply_.set_last(true);
        if (request_.has_jobs()) {
            for (int i = 0; i < 1000; ++i) wire::encode(job_, reply_.mutable_jobs()->add_jobs());
        } else {
            reply_.mutable_ping()->set_host("localhost");
        }
        reply_.SerializeToString(&bytes_);
        channels_[index]->send(bytes_);
    }

    io::Loop loop_;
    std::unique_ptr<wire::Listener> unix_, tcp_;
    std::vector<std::unique_ptr<wire::Channel>> channels_;
    wire::Request request_;
    wire::Reply reply_;
    std::string bytes_;
    model::Job job_ = [] {
        model::Job job;
        model::JobSpec spec;
        spec.name = "train";
        spec.user = "alice";
        spec.work_dir = "/home/alice/project";
        spec.command = "/home/alice/project/train.sh";
        spec.submit_line = "sbatch -N 2 train.sh";
        spec.partitions = {"gpu"};
        spec.nodes_min = 2;
        spec.tasks = 8;
        job.spec = std::make_shared<const model::JobSpec>(std::move(spec));
        job.partition = "gpu";
        return job;
    }();
    std::thread thread_;
};

std::string ping(std::uint64_t id) {
    wire::Request request;
    request.set_id(id);
    request.mutable_ping();
    return request.SerializeAsString();
}

void report(const char* what, std::uint64_t count, Clock::time_point start) {
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    fmt::print("{:<44} {:>10.0f} a second, {:.1f} us each\n", what,
               static_cast<double>(count) / seconds, seconds * 1e6 / static_cast<double>(count));
}

void single(const std::string& path, double seconds) {
    wire::FrameSocket socket = *wire::FrameSocket::connect_unix(path, wire::kClientToController);
    const auto start = Clock::now();
    std::uint64_t count = 0;
    while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
        if (!socket.send(ping(++count)) || !socket.receive()) std::abort();
    }
    report("unix, blocking client, single", count, start);
}

void fresh(const std::string& path, double seconds) {
    const auto start = Clock::now();
    std::uint64_t count = 0;
    while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
        wire::FrameSocket socket =
            *wire::FrameSocket::connect_unix(path, wire::kClientToController);
        if (!socket.send(ping(++count)) || !socket.receive()) std::abort();
    }
    report("unix, new connection for each", count, start);
}

using Connect = std::function<std::unique_ptr<wire::Channel>(io::Loop&, wire::Channel::Handlers)>;

void in_flight(const char* what, const Connect& connect, std::uint64_t depth, double seconds) {
    io::Loop loop;
    std::uint64_t answered = 0, asked = 0;
    std::unique_ptr<wire::Channel> channel;
    Clock::time_point start;
    wire::Reply reply;
    channel = connect(
        loop, {.on_frame =
                   [&](std::string_view frame) {
                       if (!reply.ParseFromArray(frame.data(), static_cast<int>(frame.size())))
                           std::abort();
                       ++answered;
                       channel->send(ping(++asked));
                   },
               .on_close =
                   [&](const Error& why) {
                       fmt::print("{}\n", why.message);
                       loop.stop();
                   },
               .on_ready =
                   [&] {
                       start = Clock::now();
                       while (asked < depth) channel->send(ping(++asked));
                   }});
    const auto end = loop.after(Millis{static_cast<int>(seconds * 1000)}, [&] { loop.stop(); });
    loop.run();
    report(what, answered, start);
}

void lists(const std::string& path, double seconds) {
    wire::FrameSocket socket = *wire::FrameSocket::connect_unix(path, wire::kClientToController);
    wire::Request request;
    request.mutable_jobs();
    const std::string bytes = request.SerializeAsString();
    const auto start = Clock::now();
    std::uint64_t jobs = 0;
    while (std::chrono::duration<double>(Clock::now() - start).count() < seconds) {
        if (!socket.send(bytes)) std::abort();
        const auto frame = socket.receive();
        wire::Reply reply;
        if (!reply.ParseFromArray(frame->data(), static_cast<int>(frame->size()))) std::abort();
        for (const wire::Job& each : reply.jobs().jobs()) jobs += wire::decode(each) ? 1 : 0;
    }
    report("jobs listed, encoded and decoded, by 1000", jobs, start);
}

void timers(double seconds) {
    io::Loop loop;
    std::uint64_t fired = 0;
    const auto start = Clock::now();
    std::vector<io::Loop::Timer> held(10'000);
    for (auto& each : held) each = loop.after(Millis{3'600'000}, [] {});
    std::size_t next = 0;
    const std::function<void()> again = [&] {
        for (int i = 0; i < 100; ++i, ++fired)
            held[next++ % held.size()] = loop.after(Millis{3'600'000}, [] {});
        if (std::chrono::duration<double>(Clock::now() - start).count() > seconds)
            return loop.stop();
        loop.post(again);
    };
    loop.post(again);
    loop.run();
    report("timers set and cancelled among 10000", fired, start);
}

}  // namespace

int main(int argc, char** argv) {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 2.0;
    const std::string path = fmt::format("/tmp/wire_round_trips.{}.sock", ::getpid());
    const Server server(path);
    const Connect by_unix = [&](io::Loop& loop, wire::Channel::Handlers handlers) {
        return wire::Channel::connect_unix(loop, path, wire::kClientToController,
                                           std::move(handlers));
    };
    const Connect by_tls = [&](io::Loop& loop, wire::Channel::Handlers handlers) {
        return wire::Channel::connect_tls(loop, "127.0.0.1", server.port(),
                                          wire::kClientToController, kKey, std::move(handlers));
    };
    single(path, seconds);
    fresh(path, seconds);
    in_flight("unix, channel, single", by_unix, 1, seconds);
    in_flight("unix, channel, 256 in flight", by_unix, 256, seconds);
    in_flight("TLS over loopback, single", by_tls, 1, seconds);
    in_flight("TLS over loopback, 256 in flight", by_tls, 256, seconds);
    lists(path, seconds);
    timers(seconds);
    return 0;
}
