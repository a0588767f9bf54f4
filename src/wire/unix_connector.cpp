// unix_connector.cpp: a unix socket connects at once or not at all, except when the listener's
// queue is full: then the kernel says EAGAIN and the only way to learn of room is to ask again.
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "wire/connector.hpp"
#include "wire/unix_address.hpp"

namespace switchyard::wire {
namespace {

constexpr Millis kRetryEvery{5};
constexpr int kRetriesMax = 2000;

class UnixConnector final : public Connector {
  public:
    UnixConnector(io::Loop& loop, std::string path, Done done)
        : loop_(loop), path_(std::move(path)), done_(std::move(done)) {
        retry_ = loop_.after(Millis{0}, [this] { attempt(); });
    }

  private:
    void attempt() {
        Result<UnixAddress> address = unix_address(path_);
        if (!address) return finish(Failure{address.error()});
        io::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
        if (!socket) return finish(fail(Errc::Io, fmt::format("socket: {}", std::strerror(errno))));
        if (::connect(socket.get(), address->get(), address->size) == 0)
            return finish(std::move(socket));
        if (errno == EAGAIN && ++retries_ < kRetriesMax) {
            retry_ = loop_.after(kRetryEvery, [this] { attempt(); });
            return;
        }
        finish(fail(Errc::Unreachable, fmt::format("{}: {}", path_, std::strerror(errno))));
    }
    // The callee may destroy this connector.
    void finish(Result<io::Fd> result) {
        const Done done = std::move(done_);
        done(std::move(result));
    }

    io::Loop& loop_;
    std::string path_;
    Done done_;
    io::Loop::Timer retry_;
    int retries_ = 0;
};

}  // namespace

std::unique_ptr<Connector> Connector::to_unix(io::Loop& loop, const std::string& path, Done done) {
    return std::make_unique<UnixConnector>(loop, path, std::move(done));
}

}  // namespace switchyard::wire
