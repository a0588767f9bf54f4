#include "pmi/simple_server.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "pmi/hub.hpp"
#include "pmi/key_values.hpp"
#include "pmi/task_socket.hpp"
#include "wire/proto/step_io.pb.h"

namespace switchyard::pmi {
namespace {

constexpr const char* kKeyMax = "64";
constexpr const char* kValueMax = "1024";
constexpr const char* kNameMax = "256";
constexpr std::size_t kStoreBytesMax = 128u << 20;  // All that one node keeps for a step.
constexpr std::size_t kEntryBytes = 256;            // What a pair costs beside its words.
constexpr std::string_view kMappingKey = "PMI_process_mapping";

class SimpleServer : public Server {
  public:
    SimpleServer(io::Loop& loop, Place place, Send send, Ready ready)
        : loop_(loop), place_(std::move(place)), send_(std::move(send)) {
        ready_ = loop_.after(Millis{0}, [ready = std::move(ready)] { ready({}); });
        all_.emplace(kMappingKey, process_mapping(place_));
        tasks_.resize(place_.here().tasks.size());
    }

    Result<Door> open_door(std::uint32_t local) override;
    void receive(const wire::PmiMessage& message) override;

  private:
    struct Task {
        std::unique_ptr<TaskSocket> socket;
        bool in_fence = false;
        std::string thread;                  // PMI-2: whom the answer to a fence is for.
        std::optional<Words> waiting_for{};  // PMI-2: an info-getnodeattr that may wait.
    };
    using Pairs = std::vector<std::pair<std::string, std::string>>;

    void handle(std::uint32_t local, const Words& words);
    void begin(Task& task, const Words& words);
    void speak_pmi1(std::uint32_t local, const Words& words);
    void speak_pmi2(std::uint32_t local, const Words& words);
    void put_node_attribute(Task& task, const Words& words);
    void get_node_attribute(Task& task, const Words& words);
    bool has_room(std::size_t bytes);
    bool put(const Words& words);  // False: no room.
    void enter_fence(Task& task, const Words& words);
    void abort(std::uint32_t local, std::string_view why);
    std::optional<std::string> job_attribute(std::string_view key) const;
    static void reply(Task& task, const Words& to, Pairs pairs);

    io::Loop& loop_;
    Place place_;
    Send send_;
    io::Loop::Timer ready_;
    std::vector<Task> tasks_;
    std::size_t stored_bytes_ = 0;
    KeyValues all_, fresh_;  // Known here; put since the last fence.
    KeyValues node_attributes_;
    std::uint64_t fences_ = 0;
};

Result<Door> SimpleServer::open_door(std::uint32_t local) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return fail(Errc::Io, fmt::format("socketpair: {}", std::strerror(errno)));
    }
    Door door;
    door.fd.reset(pair[1]);
    tasks_[local].socket = std::make_unique<TaskSocket>(
        loop_, io::Fd(pair[0]), [this, local](const Words& words) { handle(local, words); });
    door.environment = {
        fmt::format("PMI_FD={}", door.fd.get()),
        fmt::format("PMI_RANK={}", place_.here().tasks[local]),
        fmt::format("PMI_SIZE={}", place_.task_count()),
        fmt::format("PMI_JOBID={}", place_.step),
        "PMI_SPAWNED=0",
    };
    return door;
}

void SimpleServer::handle(std::uint32_t local, const Words& words) {
    Task& task = tasks_[local];
    if (words.command() == "init") return begin(task, words);
    if (task.socket->dialect() == Dialect::Pmi1) return speak_pmi1(local, words);
    speak_pmi2(local, words);
}

void SimpleServer::begin(Task& task, const Words& words) {
    const bool second = words.get("pmi_version") == "2";
    task.socket->send({{{"cmd", "response_to_init"},
                        {"pmi_version", second ? "2" : "1"},
                        {"pmi_subversion", second ? "0" : "1"},
                        {"rc", "0"}}});
    if (second) task.socket->use(Dialect::Pmi2);
}

// The stepd is spared when the machine runs out of memory: what tasks make it keep has a limit.
bool SimpleServer::has_room(std::size_t bytes) {
    if (bytes > kStoreBytesMax - stored_bytes_) return false;
    stored_bytes_ += bytes;
    return true;
}

bool SimpleServer::put(const Words& words) {
    if (!has_room(words.get("key").size() + words.get("value").size() + kEntryBytes)) return false;
    fresh_.insert_or_assign(std::string(words.get("key")), std::string(words.get("value")));
    all_.insert_or_assign(std::string(words.get("key")), std::string(words.get("value")));
    return true;
}

void SimpleServer::speak_pmi1(std::uint32_t local, const Words& words) {
    Task& task = tasks_[local];
    const std::string_view command = words.command();
    const auto say = [&](Pairs pairs) { task.socket->send({std::move(pairs)}); };
    if (command == "get_maxes") {
        say({{"cmd", "maxes"},
             {"kvsname_max", kNameMax},
             {"keylen_max", kKeyMax},
             {"vallen_max", kValueMax}});
    } else if (command == "get_appnum") {
        say({{"cmd", "appnum"}, {"appnum", "0"}});
    } else if (command == "get_my_kvsname") {
        say({{"cmd", "my_kvsname"}, {"kvsname", place_.step}});
    } else if (command == "get_universe_size") {
        say({{"cmd", "universe_size"}, {"size", std::to_string(place_.universe_size)}});
    } else if (command == "put") {
        const bool done = put(words);
        say({{"cmd", "put_result"},
             {"rc", done ? "0" : "-1"},
             {"msg", done ? "success" : "no_room"}});
    } else if (command == "get") {
        const auto found = all_.find(words.get("key"));
        if (found == all_.end()) {
            say({{"cmd", "get_result"}, {"rc", "-1"}, {"msg", "key_not_found"}});
        } else {
            say({{"cmd", "get_result"}, {"rc", "0"}, {"value", found->second}});
        }
    } else if (command == "barrier_in") {
        enter_fence(task, words);
    } else if (command == "finalize") {
        say({{"cmd", "finalize_ack"}});
    } else if (command == "abort") {
        abort(local, fmt::format("exit code {}", words.get("exitcode")));
    } else {
        // Publishing of names and spawning: known words without anyone behind them.
        const std::string name = command == "spawn"          ? "spawn_result"
                                 : command == "publish_name" ? "publish_result"
                                 : command == "lookup_name"  ? "lookup_result"
                                                             : std::string(command) + "_result";
        say({{"cmd", name}, {"rc", "-1"}, {"msg", "not_supported"}});
    }
}

// Answers carry the thread that asked, where it said so.
void SimpleServer::reply(Task& task, const Words& to, Pairs pairs) {
    Words answer{{{"cmd", std::string(to.command()) + "-response"}}};
    if (const auto thread = to.get("thrid"); !thread.empty())
        answer.pairs.emplace_back("thrid", thread);
    answer.pairs.insert(answer.pairs.end(), pairs.begin(), pairs.end());
    task.socket->send(answer);
}

std::optional<std::string> SimpleServer::job_attribute(std::string_view key) const {
    if (key == kMappingKey) return all_.find(kMappingKey)->second;
    if (key == "universeSize") return std::to_string(place_.universe_size);
    return std::nullopt;
}

void SimpleServer::speak_pmi2(std::uint32_t local, const Words& words) {
    Task& task = tasks_[local];
    const std::string_view command = words.command();
    const auto say = [&](Pairs pairs) { reply(task, words, std::move(pairs)); };
    const auto say_found = [&](const std::optional<std::string>& value) {
        if (!value) return say({{"rc", "0"}, {"found", "FALSE"}});
        say({{"rc", "0"}, {"found", "TRUE"}, {"value", *value}});
    };
    if (command == "fullinit") {
        say({{"rc", "0"},
             {"pmi-version", "2"},
             {"pmi-subversion", "0"},
             {"rank", std::to_string(place_.here().tasks[local])},
             {"size", std::to_string(place_.task_count())},
             {"appnum", "0"},
             {"debugged", "FALSE"},
             {"pmiverbose", "FALSE"}});
    } else if (command == "job-getid") {
        say({{"rc", "0"}, {"jobid", place_.step}});
    } else if (command == "kvs-put") {
        if (put(words)) return say({{"rc", "0"}});
        say({{"rc", "1"}, {"errmsg", "no room"}});
    } else if (command == "kvs-get") {
        const auto found = all_.find(words.get("key"));
        say_found(found == all_.end() ? std::nullopt : std::optional(found->second));
    } else if (command == "kvs-fence") {
        enter_fence(task, words);
    } else if (command == "info-getjobattr") {
        say_found(job_attribute(words.get("key")));
    } else if (command == "info-putnodeattr") {
        put_node_attribute(task, words);
    } else if (command == "info-getnodeattr") {
        get_node_attribute(task, words);
    } else if (command == "finalize") {
        say({{"rc", "0"}});
    } else if (command == "abort") {
        abort(local, words.get("msg"));
    } else {
        say({{"rc", "1"}, {"errmsg", fmt::format("{} is not supported", command)}});
    }
}

void SimpleServer::put_node_attribute(Task& task, const Words& words) {
    if (!has_room(words.get("key").size() + words.get("value").size() + kEntryBytes))
        return reply(task, words, {{"rc", "1"}, {"errmsg", "no room"}});
    node_attributes_.insert_or_assign(std::string(words.get("key")),
                                      std::string(words.get("value")));
    reply(task, words, {{"rc", "0"}});
    for (Task& each : tasks_) {
        if (!each.waiting_for || each.waiting_for->get("key") != words.get("key")) continue;
        const Words asked = *std::exchange(each.waiting_for, std::nullopt);
        get_node_attribute(each, asked);
    }
}

void SimpleServer::get_node_attribute(Task& task, const Words& words) {
    const auto found = node_attributes_.find(words.get("key"));
    if (found != node_attributes_.end()) {
        return reply(task, words, {{"rc", "0"}, {"found", "TRUE"}, {"value", found->second}});
    }
    if (words.get("wait") == "TRUE") {
        task.waiting_for = words;
        return;
    }
    reply(task, words, {{"rc", "0"}, {"found", "FALSE"}});
}

// When the last task of this node has come, what they put goes to the other nodes.
void SimpleServer::enter_fence(Task& task, const Words& words) {
    task.in_fence = true;
    task.thread = words.get("thrid");
    for (const Task& each : tasks_) {
        if (!each.in_fence) return;
    }
    wire::PmiMessage part;
    part.set_kind(std::to_underlying(Kind::Part));
    part.set_name(fmt::format("kvs {}", ++fences_));
    part.add_parts(encode(std::exchange(fresh_, {})));
    send_(part);
}

void SimpleServer::receive(const wire::PmiMessage& message) {
    if (static_cast<Kind>(message.kind()) != Kind::Whole) return;
    for (const std::string& part : message.parts()) {
        if (has_room(part.size())) (void)decode_into(part, all_);
    }
    for (Task& task : tasks_) {
        if (!std::exchange(task.in_fence, false)) continue;
        if (task.socket->dialect() == Dialect::Pmi1) {
            task.socket->send({{{"cmd", "barrier_out"}}});
        } else {
            reply(task, {{{"cmd", "kvs-fence"}, {"thrid", task.thread}}}, {{"rc", "0"}});
        }
    }
}

void SimpleServer::abort(std::uint32_t local, std::string_view why) {
    wire::PmiMessage message;
    message.set_kind(std::to_underlying(Kind::Abort));
    message.set_name(fmt::format("task {} called abort: {}", place_.here().tasks[local], why));
    send_(message);
}

}  // namespace

Result<std::unique_ptr<Server>> make_simple_server(io::Loop& loop, Place place, Send send,
                                                   Ready ready) {
    return std::unique_ptr<Server>(
        std::make_unique<SimpleServer>(loop, std::move(place), std::move(send), std::move(ready)));
}

}  // namespace switchyard::pmi
