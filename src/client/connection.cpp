// connection.cpp: requests out, replies in, and a second try where asking twice does no harm.
#include <google/protobuf/arena.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <deque>
#include <utility>

#include "client/client.hpp"
#include "client/dial.hpp"
#include "wire/blocking.hpp"
#include "wire/channel.hpp"
#include "wire/fields.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::client {
namespace {

constexpr Millis kOpenPatience{5'000};        // For a controller that may be restarting.
constexpr Millis kReconnectPatience{10'000};  // For one that was there a moment ago.
constexpr Millis kAnswerTimeout{100'000};
constexpr int kRetriesMax = 3;
constexpr std::size_t kListPiece = 256u << 10;  // Of the memory that a list is read into.

std::uint64_t random_nonce() {
    std::uint64_t nonce = 0;
    while (nonce == 0) {
        if (::getrandom(&nonce, sizeof nonce, 0) != static_cast<ssize_t>(sizeof nonce)) nonce = 0;
    }
    return nonce;
}

// A submission is recognised by its nonce when it arrives a second time, so it can be repeated when
// the answer was lost with the controller.
void give_nonce(wire::Request& request) {
    if (request.has_submit() && request.submit().nonce() == 0)
        request.mutable_submit()->set_nonce(random_nonce());
    if (request.has_create_step() && request.create_step().nonce() == 0) {
        request.mutable_create_step()->set_nonce(random_nonce());
    }
}

bool may_be_repeated(const wire::Request& request) {
    switch (request.body_case()) {
        case wire::Request::kSubmit:
        case wire::Request::kCreateStep:
        case wire::Request::kJobs:
        case wire::Request::kNodes:
        case wire::Request::kPartitions:
        case wire::Request::kScript:
        case wire::Request::kPids:
        case wire::Request::kConfig:
        case wire::Request::kPing:
        case wire::Request::kDiag:
        case wire::Request::kWait:
        case wire::Request::kAttach:
        case wire::Request::kTriggers:
        case wire::Request::kToken:
            return true;
        default:
            return false;
    }
}

// A failure without an id is about the connection itself.
bool is_about(const wire::Reply& reply, std::uint64_t id) {
    return reply.id() == id || (reply.id() == 0 && reply.has_failure());
}

// What is read of a reply without decoding it.
struct Outline {
    std::uint64_t id = 0;
    bool last = false, failed = false;
    std::optional<std::string_view> jobs;  // The bytes of a wire::JobsReply.
    bool is_about(std::uint64_t request) const { return id == request || (id == 0 && failed); }
};

// A malformed frame has an empty outline; decoding it finds the error.
Outline outline_of(std::string_view frame) {
    Outline seen;
    wire::Fields fields(frame);
    for (wire::Field field; fields.next(field);) {
        if (field.number == wire::Reply::kIdFieldNumber) seen.id = field.varint;
        if (field.number == wire::Reply::kLastFieldNumber) seen.last = field.varint != 0;
        if (field.number == wire::Reply::kFailureFieldNumber) seen.failed = true;
        if (field.number == wire::Reply::kJobsFieldNumber) seen.jobs = field.value;
    }
    return fields.ok() ? seen : Outline{};
}

Status parse(std::string_view frame, wire::Reply& reply) {
    if (reply.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) return {};
    return fail(Errc::ProtocolVersion,
                "the controller's answer cannot be read: it speaks another version");
}

}  // namespace

struct Connection::State {
    wire::FrameSocket socket;
    Whereabouts where;
    std::string command;
    std::uint64_t next_id = 1;
    bool introduced = false;        // The protocol version was sent.
    std::deque<wire::Reply> early;  // Replies to other requests that came while one was waited for.
    std::vector<std::string> notes;
    std::string bytes;  // Kept for its memory.

    Status send_once(wire::Request& request);
    Status read_into(wire::Reply& reply, std::optional<Millis> wait);
    Result<wire::Reply> receive_new(std::optional<Millis> wait);
    Result<wire::Reply> answer_to(std::uint64_t id, std::optional<Millis> wait);
    // The next reply to that request as it came, valid until the next is received.
    Result<std::string_view> frame_for(std::uint64_t id, std::optional<Millis> wait);
    // Sends, and what `receive` returns of the answer; asks again where that does no harm.
    template <class Answer, class Receive>
    Result<Answer> ask(wire::Request& request, Receive receive);
    Status reconnect();
    // Why the other side hung up while we were still sending, if it said so.
    std::optional<Error> last_words();
    void keep_notes(const wire::Reply& reply);
    // Why a reply is not what was asked for.
    switchyard::Failure refusal(std::string_view frame);
};

Status Connection::State::send_once(wire::Request& request) {
    request.set_id(next_id++);
    if (!introduced) {
        request.set_protocol(wire::kProtocol);
        request.set_command(command);
    }
    bytes.clear();
    if (!request.SerializeToString(&bytes))
        return fail(Errc::Internal, "the request cannot be encoded");
    SY_CHECK(socket.send(bytes));
    introduced = true;
    return {};
}

Status Connection::State::read_into(wire::Reply& reply, std::optional<Millis> wait) {
    SY_TRY(const std::string_view frame, socket.receive(wait));
    return parse(frame, reply);
}

Result<wire::Reply> Connection::State::receive_new(std::optional<Millis> wait) {
    wire::Reply reply;
    SY_CHECK(read_into(reply, wait));
    return reply;
}

Result<wire::Reply> Connection::State::answer_to(std::uint64_t id, std::optional<Millis> wait) {
    for (auto it = early.begin(); it != early.end(); ++it) {
        if (it->id() != id) continue;
        wire::Reply reply = std::move(*it);
        early.erase(it);
        return reply;
    }
    for (;;) {
        SY_TRY(wire::Reply reply, receive_new(wait));
        if (is_about(reply, id)) return reply;
        early.push_back(std::move(reply));
    }
}

Result<std::string_view> Connection::State::frame_for(std::uint64_t id,
                                                      std::optional<Millis> wait) {
    for (;;) {
        SY_TRY(const std::string_view frame, socket.receive(wait));
        if (outline_of(frame).is_about(id)) return frame;
        wire::Reply other;
        SY_CHECK(parse(frame, other));
        early.push_back(std::move(other));
    }
}

template <class Answer, class Receive>
Result<Answer> Connection::State::ask(wire::Request& request, Receive receive) {
    give_nonce(request);
    for (int attempt = 0;; ++attempt) {
        const Status sent = send_once(request);
        if (const auto why = sent ? std::nullopt : last_words()) return switchyard::Failure{*why};
        Result<Answer> answer =
            sent ? receive(request.id()) : Result<Answer>(switchyard::Failure{sent.error()});
        const bool lost = !answer && answer.error().code == Errc::Unreachable;
        if (!lost) return answer;
        // Not known whether it was done: only what bears repeating is asked again.
        if (!may_be_repeated(request) || attempt == kRetriesMax) return fail(Errc::Unreachable);
        SY_CHECK(reconnect());
    }
}

std::optional<Error> Connection::State::last_words() {
    wire::Reply reply;
    if (!read_into(reply, Millis{0}) || !reply.has_failure() || reply.id() != 0)
        return std::nullopt;
    return error_of(reply);
}

Status Connection::State::reconnect() {
    SY_TRY(socket, dial(where, kReconnectPatience));
    introduced = false;
    early.clear();
    return {};
}

void Connection::State::keep_notes(const wire::Reply& reply) {
    notes.clear();
    if (reply.has_failure())
        notes.assign(reply.failure().notes().begin(), reply.failure().notes().end());
    if (reply.has_submitted())
        notes.assign(reply.submitted().notes().begin(), reply.submitted().notes().end());
}

switchyard::Failure Connection::State::refusal(std::string_view frame) {
    wire::Reply reply;
    if (const Status read = parse(frame, reply); !read) return switchyard::Failure{read.error()};
    keep_notes(reply);
    return reply.has_failure() ? switchyard::Failure{error_of(reply)} : unexpected_answer();
}

Connection::Connection(std::unique_ptr<State> state) : state_(std::move(state)) {}
Connection::~Connection() = default;
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;

Result<Connection> Connection::open(const config::Config& config, std::string command,
                                    std::optional<Millis> patience) {
    Whereabouts where = whereabouts(config);
    SY_TRY(wire::FrameSocket socket, dial(where, patience.value_or(kOpenPatience)));
    return Connection(std::unique_ptr<State>(new State{.socket = std::move(socket),
                                                       .where = std::move(where),
                                                       .command = std::move(command),
                                                       .early = {},
                                                       .notes = {},
                                                       .bytes = {}}));
}

Result<Connection> Connection::open_default(std::string command) {
    SY_TRY(const std::string path, config::find_config_file());
    SY_TRY(const config::Config config, config::load_client_config(path));
    return open(config, std::move(command));
}

Result<std::uint64_t> Connection::send(wire::Request& request) {
    give_nonce(request);
    SY_CHECK(state_->send_once(request));
    return request.id();
}

Result<wire::Reply> Connection::receive(std::optional<Millis> wait) {
    if (!state_->early.empty()) {
        wire::Reply reply = std::move(state_->early.front());
        state_->early.pop_front();
        return reply;
    }
    return state_->receive_new(wait);
}

Result<wire::Reply> Connection::receive_for(std::uint64_t id, std::optional<Millis> wait) {
    return state_->answer_to(id, wait);
}

Status Connection::receive_rest(std::uint64_t id,
                                const std::function<Status(const wire::Reply&)>& take) {
    google::protobuf::ArenaOptions pieces;
    pieces.start_block_size = pieces.max_block_size = kListPiece;
    google::protobuf::Arena memory(pieces);
    for (bool last = false; !last;) {
        memory.Reset();
        auto& reply = *google::protobuf::Arena::CreateMessage<wire::Reply>(&memory);
        SY_CHECK(state_->read_into(reply, std::nullopt));
        if (!is_about(reply, id)) {
            state_->early.push_back(reply);
            continue;
        }
        if (reply.has_failure()) return switchyard::Failure{error_of(reply)};
        SY_CHECK(take(reply));
        last = reply.last();
    }
    return {};
}

Result<wire::Reply> Connection::call(wire::Request& request) {
    SY_TRY(wire::Reply reply, state_->ask<wire::Reply>(request, [&](std::uint64_t id) {
        return state_->answer_to(id, kAnswerTimeout);
    }));
    state_->keep_notes(reply);
    if (reply.has_failure()) return switchyard::Failure{error_of(reply)};
    return reply;
}

Status Connection::call_for_jobs(wire::Request& request,
                                 const std::function<Status(std::string_view)>& take) {
    SY_TRY(std::string_view frame, state_->ask<std::string_view>(request, [&](std::uint64_t id) {
        return state_->frame_for(id, kAnswerTimeout);
    }));
    state_->notes.clear();
    for (;;) {
        const Outline reply = outline_of(frame);
        if (!reply.jobs) return state_->refusal(frame);
        SY_CHECK(take(*reply.jobs));
        if (reply.last) return {};
        SY_TRY(frame, state_->frame_for(request.id(), std::nullopt));
    }
}

bool Connection::has_buffered_reply() const {
    return !state_->early.empty() || state_->socket.has_buffered_frame();
}
bool Connection::is_relayed() const {
    sockaddr_un address{};
    socklen_t size = sizeof address;
    return ::getpeername(fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
           state_->where.controller_socket != address.sun_path;
}
int Connection::fd() const { return state_->socket.fd(); }
const std::vector<std::string>& Connection::last_notes() const { return state_->notes; }

switchyard::Failure unexpected_answer() {
    return fail(Errc::ProtocolVersion, "the controller answered something else than was asked");
}

Error error_of(const wire::Reply& reply) {
    const wire::Failure& failure = reply.failure();
    const auto code = static_cast<Errc>(failure.code());
    std::string message = failure.message();
    if (message.empty()) message = errc_text(code);
    return {code, std::move(message)};
}

}  // namespace switchyard::client
