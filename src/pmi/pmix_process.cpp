#ifdef SY_HAS_PMIX_HEADERS
#include "pmi/pmix_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "io/loop.hpp"
#include "pmi/hub.hpp"
#include "pmi/pmix_info.hpp"
#include "pmi/pmix_library.hpp"
#include "wire/channel.hpp"
#include "wire/proto/step_io.pb.h"

namespace switchyard::pmi {
namespace {

// Lives on the loop of the process's first thread; the library's thread only posts to it.
class PmixProcess {
  public:
    PmixProcess(const Place& place, PmixLibrary library) : place_(place), library_(library) {}

    Status start();
    Result<std::vector<std::string>> environment_of(std::uint32_t rank);
    void run(int socket, const wire::PmiMessage& first);

    // What the library asks, on its own thread.
    void fence(std::string what, std::string data, pmix_modex_cbfunc_t done, void* context);
    void meet(std::string what, pmix_op_cbfunc_t done, void* context);
    void fetch(std::uint32_t rank, pmix_modex_cbfunc_t done, void* context);
    void abort(std::uint32_t rank, int status, const std::string& text);
    void answer(std::uint32_t to, const std::string& name, bool found, std::string data);
    static std::string describe(const pmix_proc_t procs[], std::size_t count);

  private:
    using Done = std::function<void(bool found, std::string data)>;
    Status check(pmix_status_t status, std::string_view what) const;
    void exchange(const std::string& what, std::string data, Done done);
    void receive(const wire::PmiMessage& message);
    void on_ask(const wire::PmiMessage& message);
    Status register_step();
    InfoList step_info();
    std::string compressed(decltype(&PMIx_generate_regex) function, const std::string& list) const;
    void send(const wire::PmiMessage& message) { channel_->send(message.SerializeAsString()); }
    pmix_proc_t proc(pmix_rank_t rank) const;

    const Place& place_;
    PmixLibrary library_;
    io::Loop loop_;
    std::unique_ptr<wire::Channel> channel_;
    std::map<std::string, std::uint64_t> rounds_;  // How often each group has met.
    std::map<std::string, Done> waiting_;          // By name of the exchange or question.
    std::uint64_t questions_ = 0;
};

// The library's callbacks have no context of ours: there is one process and one server in it.
PmixProcess* the_process = nullptr;

void free_bytes(void* bytes) { std::free(bytes); }

// The library takes the bytes and calls back when it is done with them.
void hand_over(pmix_modex_cbfunc_t done, void* context, bool found, const std::string& data) {
    char* copy = nullptr;
    if (!data.empty()) {
        copy = static_cast<char*>(std::malloc(data.size()));
        std::memcpy(copy, data.data(), data.size());
    }
    done(found ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND, copy, data.size(), context, free_bytes, copy);
}

pmix_status_t on_connected(const pmix_proc_t*, void*, pmix_info_t[], std::size_t, pmix_op_cbfunc_t,
                           void*) {
    return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t on_finalized(const pmix_proc_t*, void*, pmix_op_cbfunc_t, void*) {
    return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t on_abort(const pmix_proc_t* proc, void*, int status, const char message[],
                       pmix_proc_t[], std::size_t, pmix_op_cbfunc_t, void*) {
    the_process->abort(proc->rank, status, message != nullptr ? message : "");
    return PMIX_OPERATION_SUCCEEDED;
}
pmix_status_t on_fence(const pmix_proc_t procs[], std::size_t count, const pmix_info_t[],
                       std::size_t, char* data, std::size_t size, pmix_modex_cbfunc_t done,
                       void* context) {
    the_process->fence("fence " + PmixProcess::describe(procs, count),
                       data != nullptr ? std::string(data, size) : std::string(), done, context);
    return PMIX_SUCCESS;
}
pmix_status_t on_fetch(const pmix_proc_t* proc, const pmix_info_t[], std::size_t,
                       pmix_modex_cbfunc_t done, void* context) {
    the_process->fetch(proc->rank, done, context);
    return PMIX_SUCCESS;
}
pmix_status_t on_connect(const pmix_proc_t procs[], std::size_t count, const pmix_info_t[],
                         std::size_t, pmix_op_cbfunc_t done, void* context) {
    the_process->meet("connect " + PmixProcess::describe(procs, count), done, context);
    return PMIX_SUCCESS;
}
pmix_status_t on_disconnect(const pmix_proc_t procs[], std::size_t count, const pmix_info_t[],
                            std::size_t, pmix_op_cbfunc_t done, void* context) {
    the_process->meet("disconnect " + PmixProcess::describe(procs, count), done, context);
    return PMIX_SUCCESS;
}

struct Question {
    std::uint32_t from;
    std::string name;
};

void on_fetched(pmix_status_t status, char* data, std::size_t size, void* context) {
    const std::unique_ptr<Question> question(static_cast<Question*>(context));
    const bool found = status == PMIX_SUCCESS;
    the_process->answer(question->from, question->name, found,
                        found && data != nullptr ? std::string(data, size) : std::string());
}

pmix_server_module_t make_module() {
    pmix_server_module_t module{};
    module.client_connected2 = on_connected;
    module.client_finalized = on_finalized;
    module.abort = on_abort;
    module.fence_nb = on_fence;
    module.direct_modex = on_fetch;
    module.connect = on_connect;
    module.disconnect = on_disconnect;
    return module;
}

pmix_proc_t PmixProcess::proc(pmix_rank_t rank) const {
    pmix_proc_t proc{};
    std::copy_n(place_.step.data(), std::min(place_.step.size(), sizeof proc.nspace - 1),
                proc.nspace);
    proc.rank = rank;
    return proc;
}

Status PmixProcess::check(pmix_status_t status, std::string_view what) const {
    if (status == PMIX_SUCCESS || status == PMIX_OPERATION_SUCCEEDED) return {};
    return fail(Errc::Io, fmt::format("PMIx: {}: {}", what, library_.error_string(status)));
}

// "all", or the ranks: who takes part, alike on every node.
std::string PmixProcess::describe(const pmix_proc_t procs[], std::size_t count) {
    std::set<pmix_rank_t> ranks;
    for (std::size_t i = 0; i < count; ++i) {
        if (procs[i].rank == PMIX_RANK_WILDCARD) return "all";
        ranks.insert(procs[i].rank);
    }
    return fmt::format("{}", fmt::join(ranks, ","));
}

std::string PmixProcess::compressed(decltype(&PMIx_generate_regex) function,
                                    const std::string& list) const {
    char* regex = nullptr;
    if (function(list.c_str(), &regex) != PMIX_SUCCESS || regex == nullptr) return "raw:" + list;
    const std::string text = regex;
    std::free(regex);
    // A compressed form may have zeros in it.
    return text.starts_with("blob") ? "raw:" + list : text;
}

// What the tasks of a node can ask of the step without asking anybody else.
InfoList PmixProcess::step_info() {
    std::string names, ranks;
    InfoList info;
    const std::uint32_t count = place_.task_count();
    for (std::uint32_t index = 0; index < place_.nodes.size(); ++index) {
        const NodePlace& node = place_.nodes[index];
        names += (names.empty() ? "" : ",") + node.name;
        ranks += (index == 0 ? "" : ";") + fmt::format("{}", fmt::join(node.tasks, ","));
        for (std::uint32_t local = 0; local < node.tasks.size(); ++local) {
            InfoList task;
            task.add_rank(PMIX_RANK, node.tasks[local]);
            task.add(PMIX_APPNUM, std::uint32_t{0});
            task.add_rank(PMIX_APPLDR, 0);
            task.add_rank(PMIX_GLOBAL_RANK, node.tasks[local]);
            task.add_rank(PMIX_APP_RANK, node.tasks[local]);
            task.add_short(PMIX_LOCAL_RANK, static_cast<std::uint16_t>(local));
            task.add_short(PMIX_NODE_RANK, static_cast<std::uint16_t>(local));
            task.add(PMIX_NODEID, index);
            task.add(PMIX_HOSTNAME, node.name);
            task.add_flag(PMIX_SPAWNED, false);
            info.add_list(PMIX_PROC_INFO_ARRAY, std::move(task));
        }
    }
    const NodePlace& here = place_.here();
    info.add(PMIX_NODE_MAP, compressed(library_.generate_regex, names));
    info.add(PMIX_PROC_MAP, compressed(library_.generate_ppn, ranks));
    info.add(PMIX_JOBID, place_.step);
    info.add(PMIX_UNIV_SIZE, std::max(place_.universe_size, count));
    info.add(PMIX_JOB_SIZE, count);
    info.add(PMIX_JOB_NUM_APPS, std::uint32_t{1});
    info.add(PMIX_MAX_PROCS, count);
    info.add(PMIX_NUM_NODES, static_cast<std::uint32_t>(place_.nodes.size()));
    info.add(PMIX_NODEID, place_.node_index);
    info.add(PMIX_LOCAL_SIZE, static_cast<std::uint32_t>(here.tasks.size()));
    info.add(PMIX_NODE_SIZE, static_cast<std::uint32_t>(here.tasks.size()));
    info.add(PMIX_LOCAL_PEERS, fmt::format("{}", fmt::join(here.tasks, ",")));
    info.add_rank(PMIX_LOCALLDR, *std::ranges::min_element(here.tasks));
    info.add(PMIX_TMPDIR, place_.folder);
    info.add(PMIX_NSDIR, place_.folder);
    info.add_flag(PMIX_TDIR_RMCLEAN, true);
    return info;
}

Status PmixProcess::start() {
    InfoList info;
    info.add(PMIX_USERID, place_.uid);
    info.add(PMIX_GRPID, place_.gid);
    info.add(PMIX_SERVER_TMPDIR, place_.folder);
    info.add(PMIX_SYSTEM_TMPDIR, place_.folder);
    info.add(PMIX_HOSTNAME, place_.here().name);
    info.add(PMIX_SERVER_NSPACE, "switchyard." + place_.step);
    info.add_rank(PMIX_SERVER_RANK, place_.node_index);
    static pmix_server_module_t module = make_module();
    SY_CHECK(check(library_.server_init(&module, info.data(), info.size()), "server_init"));
    return register_step();
}

Status PmixProcess::register_step() {
    InfoList info = step_info();
    const pmix_proc_t all = proc(PMIX_RANK_WILDCARD);
    const auto local = static_cast<int>(place_.here().tasks.size());
    SY_CHECK(check(
        library_.register_nspace(all.nspace, local, info.data(), info.size(), nullptr, nullptr),
        "register_nspace"));
    for (const std::uint32_t rank : place_.here().tasks) {
        const pmix_proc_t task = proc(rank);
        SY_CHECK(check(
            library_.register_client(&task, place_.uid, place_.gid, nullptr, nullptr, nullptr),
            "register_client"));
    }
    return {};
}

Result<std::vector<std::string>> PmixProcess::environment_of(std::uint32_t rank) {
    char** entries = static_cast<char**>(std::calloc(1, sizeof(char*)));
    const pmix_proc_t task = proc(rank);
    SY_CHECK(check(library_.setup_fork(&task, &entries), "setup_fork"));
    std::vector<std::string> environment;
    for (char** each = entries; each != nullptr && *each != nullptr; ++each)
        environment.emplace_back(*each);
    return environment;
}

void PmixProcess::run(int socket, const wire::PmiMessage& first) {
    wire::Channel::Handlers handlers;
    handlers.on_frame = [this](std::string_view frame) {
        wire::PmiMessage message;
        if (message.ParseFromArray(frame.data(), static_cast<int>(frame.size()))) receive(message);
    };
    handlers.on_close = [this](const Error&) { loop_.stop(); };
    channel_ = wire::Channel::adopt(loop_, io::Fd(socket), wire::kWithOwnFork, std::move(handlers));
    send(first);
    loop_.run();
}

void PmixProcess::exchange(const std::string& what, std::string data, Done done) {
    const std::string name = fmt::format("{} {}", what, ++rounds_[what]);
    wire::PmiMessage part;
    part.set_kind(std::to_underlying(Kind::Part));
    part.set_name(name);
    const std::string_view who = std::string_view(what).substr(what.find(' ') + 1);
    if (who != "all") {
        std::set<std::uint32_t> nodes;
        for (const std::string_view rank : split(who, ',')) {
            nodes.insert(place_.node_of(static_cast<std::uint32_t>(parse_uint(rank).value_or(0))));
        }
        for (const std::uint32_t node : nodes) part.add_nodes(node);
    }
    part.add_parts(std::move(data));
    waiting_[name] = std::move(done);
    send(part);
}

void PmixProcess::fence(std::string what, std::string data, pmix_modex_cbfunc_t done,
                        void* context) {
    loop_.post([this, what = std::move(what), data = std::move(data), done, context]() mutable {
        exchange(what, std::move(data), [done, context](bool found, const std::string& whole) {
            hand_over(done, context, found, whole);
        });
    });
}

void PmixProcess::meet(std::string what, pmix_op_cbfunc_t done, void* context) {
    loop_.post([this, what = std::move(what), done, context] {
        exchange(what, {}, [done, context](bool found, const std::string&) {
            done(found ? PMIX_SUCCESS : PMIX_ERROR, context);
        });
    });
}

void PmixProcess::fetch(std::uint32_t rank, pmix_modex_cbfunc_t done, void* context) {
    loop_.post([this, rank, done, context] {
        wire::PmiMessage ask;
        ask.set_kind(std::to_underlying(Kind::Ask));
        ask.set_name(fmt::format("fetch {} {}", place_.node_index, ++questions_));
        ask.set_to(place_.node_of(rank));
        ask.add_parts(std::to_string(rank));
        if (ask.to() >= place_.nodes.size()) return hand_over(done, context, false, {});
        waiting_[ask.name()] = [done, context](bool found, const std::string& data) {
            hand_over(done, context, found, data);
        };
        send(ask);
    });
}

void PmixProcess::abort(std::uint32_t rank, int status, const std::string& text) {
    loop_.post([this, rank, status, text] {
        wire::PmiMessage message;
        message.set_kind(std::to_underlying(Kind::Abort));
        message.set_name(
            fmt::format("task {} called abort with status {}: {}", rank, status, text));
        send(message);
    });
}

void PmixProcess::answer(std::uint32_t to, const std::string& name, bool found, std::string data) {
    loop_.post([this, to, name, found, data = std::move(data)] {
        wire::PmiMessage message;
        message.set_kind(std::to_underlying(Kind::Answer));
        message.set_to(to);
        message.set_name(name);
        if (found) message.add_parts(data);
        send(message);
    });
}

void PmixProcess::on_ask(const wire::PmiMessage& message) {
    const auto rank = message.parts_size() > 0 ? parse_uint(message.parts(0)) : std::nullopt;
    const pmix_proc_t task = proc(static_cast<pmix_rank_t>(rank.value_or(0)));
    auto question = std::make_unique<Question>(Question{message.from(), message.name()});
    if (!rank || library_.dmodex_request(&task, on_fetched, question.get()) != PMIX_SUCCESS) {
        return answer(message.from(), message.name(), false, {});
    }
    (void)question.release();
}

void PmixProcess::receive(const wire::PmiMessage& message) {
    const auto kind = static_cast<Kind>(message.kind());
    if (kind == Kind::Ask) return on_ask(message);
    const auto found = waiting_.find(message.name());
    if (found == waiting_.end()) return;
    const Done done = std::move(found->second);
    waiting_.erase(found);
    std::string data;
    for (const std::string& part : message.parts()) data += part;
    done(kind == Kind::Whole || message.parts_size() > 0, std::move(data));
}

// Variables of a PMIx that we may have been started under ourselves are not for this one.
void forget_pmix_variables() {
    std::vector<std::string> names;
    for (char** each = environ; *each != nullptr; ++each) {
        const std::string_view entry = *each;
        if (entry.starts_with("PMIX_") && !entry.starts_with("PMIX_MCA_")) {
            names.emplace_back(entry.substr(0, entry.find('=')));
        }
    }
    for (const std::string& name : names) ::unsetenv(name.c_str());
}

Result<wire::PmiMessage> open_doors(PmixProcess& process, const Place& place) {
    SY_CHECK(process.start());
    wire::PmiMessage doors;
    for (const std::uint32_t rank : place.here().tasks) {
        SY_TRY(const auto environment, process.environment_of(rank));
        doors.add_parts(fmt::format("{}", fmt::join(environment, std::string_view("\0", 1))));
    }
    return doors;
}

}  // namespace

void run_pmix_process(const Place& place, int socket) {
    // Only this socket is ours; all else belongs to the stepd.
    constexpr int kSocket = 3;
    ::dup2(socket, kSocket);
    ::close_range(kSocket + 1, ~0u, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_IGN);
    forget_pmix_variables();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);

    wire::PmiMessage first;
    const auto library = open_pmix_library();
    if (library) {
        PmixProcess process(place, *library);
        the_process = &process;
        auto doors = open_doors(process, place);
        if (doors) {
            first = *std::move(doors);
        } else {
            first.set_name(doors.error().message);
        }
        process.run(kSocket, first);
    } else {
        first.set_name(library.error().message);
        io::Loop loop;
        const auto channel = wire::Channel::adopt(
            loop, io::Fd(kSocket), wire::kWithOwnFork,
            {.on_frame = {}, .on_close = [&](const Error&) { loop.stop(); }, .on_ready = {}});
        channel->send(first.SerializeAsString());
        loop.run();
    }
    ::_exit(0);
}

}  // namespace switchyard::pmi
#endif
