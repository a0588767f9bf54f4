// channel.cpp: frames over a stream.
//
// Everything that calls back runs from the loop: from an event of the socket or from settle(),
// which is deferred to the end of the turn. send() only queues (and writes early when much is
// queued), so a caller is never called back from inside its own call. The core is shared with the
// loop's deferred work and with its own callbacks while they run, which is what lets a callback
// destroy the channel.
#include "wire/channel.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/limits.hpp"
#include "wire/connector.hpp"
#include "wire/frame_buffer.hpp"
#include "wire/stream.hpp"

namespace switchyard::wire {
namespace {

constexpr std::size_t kReadBytesPerTurnMax = 1u << 20;  // Then the others have their turn.
constexpr std::size_t kWriteEarlyBytes =
    128u << 10;  // Queued bytes that are not left to the end of the turn.
constexpr std::size_t kIdleOutboxBytesMax = 256u << 10;  // Memory kept for the next frames.
constexpr Millis kHandshakeTimeout{10'000};

class ChannelCore : public std::enable_shared_from_this<ChannelCore> {
  public:
    ChannelCore(io::Loop& loop, const Protocol& protocol, Channel::Handlers handlers)
        : loop_(loop), handlers_(std::move(handlers)), inbox_(protocol), greeting_(protocol.says) {}

    void start(std::unique_ptr<Stream> stream);
    void connect(std::unique_ptr<Connector> connector) { connector_ = std::move(connector); }
    void connection_failed(const Error& why) { finish(why); }

    void send(std::string_view frame);
    std::size_t unsent_bytes() const { return outbox_.size() - sent_; }
    void on_drained(std::function<void()> callback) {
        drained_ = std::move(callback);
        schedule();
    }
    void pause_reading(bool paused);
    void set_terms(Terms terms);
    void close();
    Result<PeerCredentials> peer() const {
        if (!stream_) return fail(Errc::Io, "not connected");
        return stream_->peer();
    }
    std::string peer_address() const { return peer_address_; }

  private:
    void schedule();
    void settle();
    void on_events();
    void advance_handshake();
    void read_frames();
    void receive_frames();
    void deliver_frames();
    void flush();
    void end_after_write_error();
    void weigh_input();
    void weigh_output();
    void let_go();
    void update_events();
    void finish(Error why);
    void refuse(const Error& why);
    void rest();
    bool readable() const { return !closed_ && !paused_ && !resting_; }

    io::Loop& loop_;
    Channel::Handlers handlers_;
    std::unique_ptr<Connector> connector_;
    std::unique_ptr<Stream> stream_;
    io::Loop::Watch watch_;
    io::Loop::Timer handshake_timer_;
    io::Loop::Timer frame_timer_;
    Terms terms_;
    std::size_t counted_input_ = 0, counted_output_ = 0;  // Of ours in the allowances.
    FrameBuffer inbox_;
    std::string_view greeting_;  // Leaves with the first frame.
    std::string outbox_;
    std::size_t sent_ = 0;  // Bytes at the front of outbox_ that have left.
    std::function<void()> drained_;
    std::string peer_address_;
    std::optional<Error> pending_error_;  // Found inside send(); reported from settle().
    std::string write_error_;
    bool established_ = false, announce_ready_ = false, closed_ = false, paused_ = false;
    bool scheduled_ = false, read_again_ = false, frame_timed_ = false;
    bool resting_ = false;  // Had enough of its frames in this turn.
};

void ChannelCore::start(std::unique_ptr<Stream> stream) {
    stream_ = std::move(stream);
    peer_address_ = stream_->peer_address();
    watch_ = loop_.watch(stream_->fd(), 0, [this](std::uint32_t) { on_events(); });
    handshake_timer_ = loop_.after(kHandshakeTimeout, [this] {
        const auto self = shared_from_this();
        finish({Errc::Timeout, "the other end did not complete the handshake"});
    });
    schedule();
}

void ChannelCore::schedule() {
    if (closed_ || std::exchange(scheduled_, true)) return;
    loop_.defer([self = shared_from_this()] { self->settle(); });
}

void ChannelCore::settle() {
    scheduled_ = false;
    if (closed_) return;
    if (pending_error_) return finish(*std::move(pending_error_));
    if (!stream_) return;
    if (!established_) return advance_handshake();
    if (std::exchange(announce_ready_, false) && handlers_.on_ready) handlers_.on_ready();
    if (!closed_ && std::exchange(read_again_, false)) read_frames();
    if (closed_) return;
    flush();
    weigh_output();
    if (!write_error_.empty()) return end_after_write_error();
    if (unsent_bytes() == 0 && drained_) std::exchange(drained_, nullptr)();
    if (!closed_) update_events();
}

void ChannelCore::on_events() {
    const auto self = shared_from_this();
    if (!established_) return advance_handshake();
    read_frames();
    if (closed_) return;
    if (unsent_bytes() > 0) return settle();
    update_events();
}

void ChannelCore::advance_handshake() {
    const Transfer progress = stream_->handshake();
    if (progress.kind == Transfer::Kind::Again) {
        watch_.set_events(stream_->wants_write() ? EPOLLIN | EPOLLOUT : EPOLLIN);
        return;
    }
    if (progress.kind != Transfer::Kind::Done) return finish({Errc::AccessDenied, progress.error});
    handshake_timer_ = {};
    established_ = announce_ready_ = true;
    // The first frames may be there: a command sends its question as soon as it is connected.
    read_again_ = true;
    settle();
}

void ChannelCore::deliver_frames() {
    for (std::size_t left = terms_.frames_per_turn_max; readable(); --left) {
        if (left == 0) return rest();
        const auto frame = inbox_.next();
        if (!frame) return refuse(frame.error());
        if (!*frame) return;
        frame_timed_ = false;
        handlers_.on_frame(**frame);
    }
}

// Much is there already: the rest of it is for the next turn.
void ChannelCore::rest() {
    resting_ = true;
    loop_.post([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->resting_ = false;
        self->read_again_ = true;
        self->settle();
    });
}

void ChannelCore::read_frames() {
    receive_frames();
    if (!closed_) weigh_input();
}

void ChannelCore::receive_frames() {
    std::size_t budget = kReadBytesPerTurnMax;
    for (;;) {
        deliver_frames();
        if (!readable()) return;
        if (budget == 0) {
            read_again_ = true;
            return schedule();
        }
        const std::span<char> space = inbox_.space();
        const Transfer got = stream_->read(space);
        if (got.kind == Transfer::Kind::Again) return;
        if (got.kind == Transfer::Kind::Failed) return finish({Errc::Io, got.error});
        if (got.kind == Transfer::Kind::End) {
            const bool torn = inbox_.ends_inside_frame();
            return finish({Errc::Io, torn ? "connection closed in the middle of a message"
                                          : "connection closed"});
        }
        inbox_.commit(got.bytes);
        budget -= std::min(budget, got.bytes);
        if (got.bytes < space.size() && stream_->drained_by_short_read()) return deliver_frames();
    }
}

void ChannelCore::send(std::string_view frame) {
    if (closed_ || pending_error_) return;
    if (frame.size() > limits::kFrameBytesMax) {
        pending_error_ = {Errc::Busy,
                          fmt::format("a message of {} bytes is larger than the limit of {}",
                                      frame.size(), limits::kFrameBytesMax)};
        return schedule();
    }
    if (unsent_bytes() + frame.size() > limits::kOutboxBytesMax) {
        pending_error_ = {
            Errc::Busy,
            fmt::format("the other end does not read: {} bytes wait for it", unsent_bytes())};
        return schedule();
    }
    if (sent_ > 0 && sent_ >= outbox_.size() / 2) outbox_.erase(0, std::exchange(sent_, 0));
    outbox_.append(std::exchange(greeting_, {}));
    append_frame_header(outbox_, frame.size());
    outbox_.append(frame);
    if (established_ && unsent_bytes() >= kWriteEarlyBytes && write_error_.empty()) flush();
    weigh_output();
    if (terms_.unsent && terms_.unsent->bytes > terms_.unsent->bytes_max) {
        pending_error_ = over(*terms_.unsent);
    }
    schedule();
}

// Writes without calling anybody back.
void ChannelCore::flush() {
    while (unsent_bytes() > 0) {
        Transfer put = stream_->write(std::string_view(outbox_).substr(sent_));
        if (put.kind == Transfer::Kind::Again) return;
        if (put.kind != Transfer::Kind::Done) {
            write_error_ = put.error.empty() ? "connection closed" : std::move(put.error);
            break;
        }
        sent_ += put.bytes;
    }
    outbox_.clear();
    sent_ = 0;
    if (outbox_.capacity() > kIdleOutboxBytesMax) outbox_.shrink_to_fit();
}

// An unfinished frame costs memory and may never end.
void ChannelCore::weigh_input() {
    if (terms_.unfinished) {
        inbox_.release();
        const std::size_t now = inbox_.unfinished_bytes();
        Allowance& sum = *terms_.unfinished;
        sum.bytes += now - std::exchange(counted_input_, now);
        if (now > 0 && sum.bytes > sum.bytes_max) return refuse(over(sum));
    }
    const bool waits = terms_.frame_time_max && !paused_ && inbox_.ends_inside_frame();
    if (!waits) {
        frame_timed_ = false;
        frame_timer_ = {};
    } else if (!std::exchange(frame_timed_, true)) {
        frame_timer_ = loop_.after(*terms_.frame_time_max, [this] {
            const auto self = shared_from_this();
            refuse({Errc::Timeout, fmt::format("a message was begun and not ended within {} s",
                                               terms_.frame_time_max->count() / 1000)});
        });
    }
}

void ChannelCore::weigh_output() {
    if (!terms_.unsent) return;
    terms_.unsent->bytes += unsent_bytes() - std::exchange(counted_output_, unsent_bytes());
}

void ChannelCore::set_terms(Terms terms) {
    if (closed_) return;
    let_go();
    terms_ = std::move(terms);
    inbox_.limit_frames(terms_.frame_bytes_max);
    weigh_output();
}

// What was counted of ours in the sums is ours no more.
void ChannelCore::let_go() {
    if (terms_.unfinished) terms_.unfinished->bytes -= std::exchange(counted_input_, 0);
    if (terms_.unsent) terms_.unsent->bytes -= std::exchange(counted_output_, 0);
    frame_timer_ = {};
    frame_timed_ = false;
}

// The peer may have answered before it went away: what it said is delivered first.
void ChannelCore::end_after_write_error() {
    if (readable()) read_frames();
    if (!closed_) finish({Errc::Io, write_error_});
}

void ChannelCore::pause_reading(bool paused) {
    if (closed_ || paused_ == paused) return;
    paused_ = paused;
    if (!established_) return;
    if (paused) {
        frame_timer_ = {};
        frame_timed_ = false;
    } else {
        read_again_ = true;  // Frames may already be in the buffer.
        schedule();
    }
    update_events();
}

void ChannelCore::update_events() {
    std::uint32_t events = paused_ ? 0u : static_cast<std::uint32_t>(EPOLLIN);
    if (unsent_bytes() > 0 || stream_->wants_write()) events |= EPOLLOUT;
    watch_.set_events(events);
}

void ChannelCore::close() {
    if (std::exchange(closed_, true)) return;
    // One that was just accepted may be told why it is closed.
    if (stream_ && !established_ && unsent_bytes() > 0)
        established_ = stream_->handshake().kind == Transfer::Kind::Done;
    if (established_ && stream_) {
        if (write_error_.empty()) flush();
        stream_->say_goodbye();
    }
    let_go();
    handshake_timer_ = {};
    watch_ = {};
    stream_.reset();
    connector_.reset();
}

void ChannelCore::finish(Error why) {
    if (closed_) return;
    closed_ = true;
    let_go();
    handshake_timer_ = {};
    watch_ = {};
    stream_.reset();
    if (handlers_.on_close) handlers_.on_close(why);
}

// The other side broke a rule, and is told which as far as the socket takes it. One that speaks
// another protocol knows it by our greeting.
void ChannelCore::refuse(const Error& why) {
    outbox_.append(std::exchange(greeting_, {}));
    if (terms_.farewell && why.code != Errc::ProtocolVersion) {
        const std::string words = terms_.farewell(why);
        append_frame_header(outbox_, words.size());
        outbox_.append(words);
    }
    if (write_error_.empty()) flush();
    finish(why);
}

// The owner's end: destroying it closes.
class FrameChannel final : public Channel {
  public:
    explicit FrameChannel(std::shared_ptr<ChannelCore> core) : core_(std::move(core)) {}
    ~FrameChannel() override { core_->close(); }
    void send(std::string_view frame) override { core_->send(frame); }
    std::size_t unsent_bytes() const override { return core_->unsent_bytes(); }
    void on_drained(std::function<void()> callback) override {
        core_->on_drained(std::move(callback));
    }
    void pause_reading(bool paused) override { core_->pause_reading(paused); }
    void set_terms(Terms terms) override { core_->set_terms(std::move(terms)); }
    void close() override { core_->close(); }
    Result<PeerCredentials> peer() const override { return core_->peer(); }
    std::string peer_address() const override { return core_->peer_address(); }

  private:
    std::shared_ptr<ChannelCore> core_;
};

using MakeStream = std::function<std::unique_ptr<Stream>(io::Fd)>;

// What a connector calls when it is done. It holds the core only weakly: the core owns the
// connector.
Connector::Done on_connected(const std::shared_ptr<ChannelCore>& core, MakeStream make_stream) {
    return
        [weak = std::weak_ptr(core), make_stream = std::move(make_stream)](Result<io::Fd> socket) {
            const auto self = weak.lock();
            if (!self) return;
            if (!socket) return self->connection_failed(socket.error());
            self->start(make_stream(*std::move(socket)));
        };
}

}  // namespace

Error over(const Allowance& sum) {
    return {Errc::Busy, fmt::format("the {} hold more than {} bytes", sum.what, sum.bytes_max)};
}

std::unique_ptr<Channel> make_channel(io::Loop& loop, std::unique_ptr<Stream> stream,
                                      const Protocol& protocol, Channel::Handlers handlers) {
    auto core = std::make_shared<ChannelCore>(loop, protocol, std::move(handlers));
    core->start(std::move(stream));
    return std::make_unique<FrameChannel>(std::move(core));
}

std::unique_ptr<Channel> Channel::adopt(io::Loop& loop, io::Fd socket, const Protocol& protocol,
                                        Handlers handlers) {
    return make_channel(loop, make_plain_stream(std::move(socket)), protocol, std::move(handlers));
}

std::unique_ptr<Channel> Channel::connect_unix(io::Loop& loop, const std::string& path,
                                               const Protocol& protocol, Handlers handlers) {
    auto core = std::make_shared<ChannelCore>(loop, protocol, std::move(handlers));
    core->connect(Connector::to_unix(loop, path, on_connected(core, make_plain_stream)));
    return std::make_unique<FrameChannel>(std::move(core));
}

std::unique_ptr<Channel> Channel::adopt_tls_server(io::Loop& loop, io::Fd socket,
                                                   const Protocol& protocol, PresharedKey key,
                                                   Handlers handlers) {
    return make_channel(loop, make_tls_stream(std::move(socket), std::move(key), TlsRole::Server),
                        protocol, std::move(handlers));
}

std::unique_ptr<Channel> Channel::connect_tls(io::Loop& loop, const std::string& host,
                                              std::uint16_t port, const Protocol& protocol,
                                              PresharedKey key, Handlers handlers) {
    auto core = std::make_shared<ChannelCore>(loop, protocol, std::move(handlers));
    const auto encrypt = [key = std::move(key)](io::Fd socket) {
        return make_tls_stream(std::move(socket), key, TlsRole::Client);
    };
    core->connect(Connector::to_tcp(loop, host, port, on_connected(core, encrypt)));
    return std::make_unique<FrameChannel>(std::move(core));
}

}  // namespace switchyard::wire
