#include "pmi/pmix_server.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "base/text.hpp"
#include "os/beneath.hpp"
#include "os/files.hpp"
#include "os/spawn.hpp"
#include "os/users.hpp"
#include "pmi/hub.hpp"
#include "pmi/pmix_process.hpp"
#include "wire/channel.hpp"
#include "wire/proto/step_io.pb.h"

namespace switchyard::pmi {
namespace {

constexpr Millis kStartMax{30'000};
constexpr unsigned kRemovalSecondsMax = 10;

os::Identity owner(const Place& place) { return {place.uid, place.gid, {place.gid}}; }

class PmixServer : public Server {
  public:
    PmixServer(Place place, Send send, Ready ready)
        : place_(std::move(place)), send_(std::move(send)), ready_(std::move(ready)) {}
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
    void on_message(const wire::PmiMessage& message);
    void on_close(const Error& why);
    Status read_environments(const wire::PmiMessage& first);
    void become_ready(const Status& status);

    Place place_;
    Send send_;
    Ready ready_;  // Until it was told.
    io::Fd process_;
    bool has_folder_ = false;
    std::vector<std::vector<std::string>> environments_;  // By local task.
    std::unique_ptr<wire::Channel> channel_;
    io::Loop::Timer patience_;
};

// The process is the user's, who may have stopped it, and its folder is full of their files.
PmixServer::~PmixServer() {
    channel_.reset();
    os::signal_pidfd(process_, SIGKILL);
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
Status PmixServer::read_environments(const wire::PmiMessage& first) {
    if (!first.name().empty()) return fail(Errc::Unsupported, first.name());
    for (const std::string& part : first.parts()) {
        auto& environment = environments_.emplace_back();
        for (const std::string_view entry : split(part, '\0')) environment.emplace_back(entry);
    }
    if (environments_.size() == place_.here().tasks.size()) return {};
    return fail(Errc::Io, "the PMIx server did not start");
}

void PmixServer::become_ready(const Status& status) {
    patience_ = {};
    const Ready ready = std::exchange(ready_, nullptr);
    ready(status);
}

void PmixServer::on_message(const wire::PmiMessage& message) {
    if (ready_) return become_ready(read_environments(message));
    send_(message);
}

void PmixServer::on_close(const Error& why) {
    channel_.reset();
    if (ready_) return become_ready(fail(Errc::Io, "the PMIx server did not start"));
    wire::PmiMessage message;
    message.set_kind(std::to_underlying(Kind::Abort));
    message.set_name("the PMIx server is gone: " + why.message);
    send_(message);
}

Status PmixServer::start(io::Loop& loop) {
    SY_CHECK(make_folder());
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
        return os::errno_failure("socketpair");
    }
    io::Fd ours(pair[0]);
    const io::Fd theirs(pair[1]);
    const pid_t process = ::fork();
    if (process < 0) return os::errno_failure("fork");
    if (process == 0) {
        // The library reads what tasks send it: it has no more rights than they.
        if (!os::become(owner(place_))) ::_exit(1);
        run_pmix_process(place_, theirs.get());
    }
    SY_TRY(process_, os::open_pidfd(process));
    wire::Channel::Handlers handlers;
    handlers.on_frame = [this](std::string_view frame) {
        wire::PmiMessage message;
        if (message.ParseFromArray(frame.data(), static_cast<int>(frame.size())))
            on_message(message);
    };
    handlers.on_close = [this](const Error& why) { on_close(why); };
    channel_ = wire::Channel::adopt(loop, std::move(ours), wire::kWithOwnFork, std::move(handlers));
    patience_ = loop.after(kStartMax, [this] {
        become_ready(fail(Errc::Timeout, "the PMIx server did not start in time"));
    });
    return {};
}

}  // namespace

bool has_pmix() { return can_open_pmix(); }

Result<std::unique_ptr<Server>> make_pmix_server(io::Loop& loop, Place place, Send send,
                                                 Ready ready) {
    if (!has_pmix()) {
        return fail(Errc::Unsupported, "libpmix.so.2 of OpenPMIx cannot be opened on this node");
    }
    auto server = std::make_unique<PmixServer>(std::move(place), std::move(send), std::move(ready));
    SY_CHECK(server->start(loop));
    return std::unique_ptr<Server>(std::move(server));
}

}  // namespace switchyard::pmi
