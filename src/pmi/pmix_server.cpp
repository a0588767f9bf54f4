#include "pmi/pmix_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "base/text.hpp"
#include "os/beneath.hpp"
#include "os/files.hpp"
#include "os/users.hpp"
#include "pmi/hub.hpp"
#include "pmi/pmix_process.hpp"
#include "wire/channel.hpp"
#include "wire/frame_buffer.hpp"
#include "wire/proto/step_io.pb.h"

namespace switchyard::pmi {
namespace {

constexpr std::chrono::seconds kStartMax{60};
constexpr unsigned kRemovalSecondsMax = 10;

os::Identity owner(const Place& place) { return {place.uid, place.gid, {place.gid}}; }

class PmixServer : public Server {
  public:
    PmixServer(Place place, Send send) : place_(std::move(place)), send_(std::move(send)) {}
    ~PmixServer() override;

    Status start(io::Loop& loop);
    Result<Door> open_door(std::uint32_t local) override {
        Door door;
        door.environment = environments_[local];
        return door;
    }
    void receive(const wire::PmiMessage& message) override {
        if (channel_) channel_->send(message.SerializeAsString());
    }

  private:
    Status make_folder();
    Status read_environments(int socket);

    Place place_;
    Send send_;
    pid_t process_ = 0;
    bool has_folder_ = false;
    std::vector<std::vector<std::string>> environments_;  // By local task.
    std::unique_ptr<wire::Channel> channel_;
};

// The process is the user's, who may have stopped it, and its folder is full of their files.
PmixServer::~PmixServer() {
    channel_.reset();
    if (process_ > 0) ::kill(process_, SIGKILL);
    if (has_folder_) (void)os::remove_folder_of(owner(place_), place_.folder, kRemovalSecondsMax);
}

// Where the library keeps its rendezvous files; only the user may look.
Status PmixServer::make_folder() {
    std::string name = place_.folder + "/pmix-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) return os::errno_failure(name);
    place_.folder = name;
    has_folder_ = true;
    if (::geteuid() == 0 && ::lchown(name.c_str(), place_.uid, place_.gid) != 0) {
        return os::errno_failure(name);
    }
    return {};
}

// The first message of the process: the variables of each task, or why there are none.
Status PmixServer::read_environments(int socket) {
    wire::FrameBuffer buffer(wire::kWithOwnFork);
    const auto end = std::chrono::steady_clock::now() + kStartMax;
    while (true) {
        SY_TRY(const auto frame, buffer.next());
        if (frame) {
            wire::PmiMessage message;
            if (!message.ParseFromArray(frame->data(), static_cast<int>(frame->size()))) break;
            if (!message.name().empty()) return fail(Errc::Unsupported, message.name());
            for (const std::string& part : message.parts()) {
                auto& environment = environments_.emplace_back();
                for (const std::string_view entry : split(part, '\0'))
                    environment.emplace_back(entry);
            }
            break;
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            end - std::chrono::steady_clock::now());
        pollfd wait{socket, POLLIN, 0};
        if (left.count() <= 0 || ::poll(&wait, 1, static_cast<int>(left.count())) == 0) break;
        const auto space = buffer.space();
        const ssize_t got = ::recv(socket, space.data(), space.size(), MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) break;
        if (got > 0) buffer.commit(static_cast<std::size_t>(got));
    }
    if (environments_.size() == place_.here().tasks.size()) return {};
    return fail(Errc::Io, "the PMIx server did not start");
}

Status PmixServer::start(io::Loop& loop) {
    SY_CHECK(make_folder());
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return os::errno_failure("socketpair");
    }
    io::Fd ours(pair[0]), theirs(pair[1]);
    process_ = ::fork();
    if (process_ < 0) return os::errno_failure("fork");
    if (process_ == 0) {
        // The library reads what tasks send it: it has no more rights than they.
        if (!os::become(owner(place_))) ::_exit(1);
        run_pmix_process(place_, theirs.get());
    }
    theirs.reset();
    SY_CHECK(read_environments(ours.get()));
    wire::Channel::Handlers handlers;
    handlers.on_frame = [this](std::string_view frame) {
        wire::PmiMessage message;
        if (message.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) send_(message);
    };
    handlers.on_close = [this](const Error& why) {
        channel_.reset();
        wire::PmiMessage message;
        message.set_kind(std::to_underlying(Kind::Abort));
        message.set_name("the PMIx server is gone: " + why.message);
        send_(message);
    };
    channel_ = wire::Channel::adopt(loop, std::move(ours), wire::kWithOwnFork, std::move(handlers));
    return {};
}

}  // namespace

bool has_pmix() { return can_open_pmix(); }

Result<std::unique_ptr<Server>> make_pmix_server(io::Loop& loop, Place place, Send send) {
    if (!has_pmix()) {
        return fail(Errc::Unsupported, "libpmix.so.2 of OpenPMIx cannot be opened on this node");
    }
    auto server = std::make_unique<PmixServer>(std::move(place), std::move(send));
    SY_CHECK(server->start(loop));
    return std::unique_ptr<Server>(std::move(server));
}

}  // namespace switchyard::pmi
