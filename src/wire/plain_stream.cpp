// plain_stream.cpp: a unix socket or a socket pair; the kernel says who is at the other end.
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "wire/stream.hpp"

namespace switchyard::wire {
namespace {

Transfer failed_or_again(ssize_t result) {
    if (result >= 0) return {.bytes = static_cast<std::size_t>(result)};
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        return {.kind = Transfer::Kind::Again};
    return {.kind = Transfer::Kind::Failed, .error = std::strerror(errno)};
}

class PlainStream final : public Stream {
  public:
    explicit PlainStream(io::Fd socket) : socket_(std::move(socket)) {
        ucred credentials{};
        socklen_t size = sizeof credentials;
        if (::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
            credentials.uid != static_cast<uid_t>(-1)) {
            peer_ = {.uid = credentials.uid, .gid = credentials.gid, .pid = credentials.pid};
            has_peer_ = true;
        }
    }

    int fd() const override { return socket_.get(); }
    Transfer handshake() override { return {}; }
    Transfer read(std::span<char> into) override {
        Transfer got =
            failed_or_again(::recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT));
        if (got.kind == Transfer::Kind::Done && got.bytes == 0) got.kind = Transfer::Kind::End;
        return got;
    }
    Transfer write(std::string_view bytes) override {
        return failed_or_again(
            ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    }
    bool wants_write() const override { return false; }
    bool drained_by_short_read() const override { return true; }
    void say_goodbye() override {}
    Result<PeerCredentials> peer() const override {
        if (!has_peer_)
            return fail(Errc::Unsupported, "the kernel does not know who is at the other end");
        return peer_;
    }
    std::string peer_address() const override { return {}; }

  private:
    io::Fd socket_;
    PeerCredentials peer_;
    bool has_peer_ = false;
};

}  // namespace

std::unique_ptr<Stream> make_plain_stream(io::Fd socket) {
    return std::make_unique<PlainStream>(std::move(socket));
}

}  // namespace switchyard::wire
