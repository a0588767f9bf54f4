// tcp_connector.cpp: looks a host up and tries its addresses one after the other.
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "wire/connector.hpp"
#include "wire/tcp.hpp"

namespace switchyard::wire {
namespace {

constexpr Millis kAddressTimeout{5'000};

struct Address {
    sockaddr_storage storage{};
    socklen_t size = 0;
    int family = AF_UNSPEC;
};

// The addresses of a host, or why there are none. With AI_NUMERICHOST it does not leave the
// process.
Result<std::vector<Address>> look_up(const std::string& host, std::uint16_t port, int flags) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = flags | AI_NUMERICSERV;
    addrinfo* list = nullptr;
    const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
    if (code != 0)
        return fail(Errc::Unreachable, fmt::format("{}: {}", host, ::gai_strerror(code)));
    std::vector<Address> addresses;
    for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
        Address address{.size = each->ai_addrlen, .family = each->ai_family};
        std::memcpy(&address.storage, each->ai_addr, each->ai_addrlen);
        addresses.push_back(address);
    }
    ::freeaddrinfo(list);
    return addresses;
}

// Shared with the thread that asks the resolver: it may still be asking when nobody wants to know
// any more.
struct LookUp {
    Result<std::vector<Address>> answer = fail(Errc::Unreachable);
    io::Fd done{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::atomic<bool> answered = false;  // Orders `answer` before its reader.
};

class TcpConnector final : public Connector {
  public:
    TcpConnector(io::Loop& loop, std::string host, std::uint16_t port, Done done)
        : loop_(loop), host_(std::move(host)), port_(port), done_(std::move(done)) {
        timer_ = loop_.after(Millis{0}, [this] { start(); });
    }

  private:
    void start() {
        Result<std::vector<Address>> numeric = look_up(host_, port_, AI_NUMERICHOST);
        if (numeric) return begin(std::move(numeric));
        look_up_ = std::make_shared<LookUp>();
        answer_watch_ = loop_.watch(look_up_->done.get(), EPOLLIN, [this](std::uint32_t) {
            if (!look_up_->answered.load(std::memory_order_acquire)) return;
            answer_watch_ = {};
            begin(std::move(look_up_->answer));
        });
        std::thread([shared = look_up_, host = host_, port = port_] {
            shared->answer = look_up(host, port, AI_ADDRCONFIG);
            shared->answered.store(true, std::memory_order_release);
            const std::uint64_t one = 1;
            [[maybe_unused]] const auto written = ::write(shared->done.get(), &one, sizeof one);
        }).detach();
    }
    void begin(Result<std::vector<Address>> addresses) {
        if (!addresses) return finish(switchyard::Failure{addresses.error()});
        addresses_ = *std::move(addresses);
        attempt(ENOENT);
    }
    // Tries the next address; `error` is why the last one did not do.
    void attempt(int error) {
        watch_ = {};
        socket_.reset();
        if (next_ == addresses_.size()) {
            return finish(fail(Errc::Unreachable,
                               fmt::format("{} port {}: {}", host_, port_, std::strerror(error))));
        }
        const Address& address = addresses_[next_++];
        socket_.reset(::socket(address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        if (!socket_) return attempt(errno);
        tune_tcp(socket_.get());
        if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address.storage),
                      address.size) == 0) {
            return finish(std::move(socket_));
        }
        if (errno != EINPROGRESS) return attempt(errno);
        timer_ = loop_.after(kAddressTimeout, [this] { attempt(ETIMEDOUT); });
        watch_ = loop_.watch(socket_.get(), EPOLLOUT, [this](std::uint32_t) { connected(); });
    }
    void connected() {
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) return attempt(error);
        finish(std::move(socket_));
    }
    // The callee may destroy this connector.
    void finish(Result<io::Fd> result) {
        watch_ = {};
        timer_ = {};
        const Done done = std::move(done_);
        done(std::move(result));
    }

    io::Loop& loop_;
    std::string host_;
    std::uint16_t port_;
    Done done_;
    io::Loop::Timer timer_;
    std::shared_ptr<LookUp> look_up_;
    io::Loop::Watch answer_watch_;
    std::vector<Address> addresses_;
    std::size_t next_ = 0;
    io::Fd socket_;
    io::Loop::Watch watch_;
};

}  // namespace

std::unique_ptr<Connector> Connector::to_tcp(io::Loop& loop, const std::string& host,
                                             std::uint16_t port, Done done) {
    return std::make_unique<TcpConnector>(loop, host, port, std::move(done));
}

}  // namespace switchyard::wire
