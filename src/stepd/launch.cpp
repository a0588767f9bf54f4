#include "stepd/launch.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/index_set.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::stepd {
namespace {

template <class Texts>
std::vector<std::string> to_strings(const Texts& from) {
    return {from.begin(), from.end()};
}

std::vector<model::ResourceLimit> read_limits(
    const google::protobuf::RepeatedPtrField<wire::ResourceLimit>& from) {
    std::vector<model::ResourceLimit> limits;
    for (const wire::ResourceLimit& each : from) {
        limits.push_back({each.resource(), each.soft(), each.hard()});
    }
    return limits;
}

Result<Command> read_command(const wire::StepLaunch& from) {
    if (from.open_mode() > static_cast<std::uint32_t>(model::OpenMode::Append) ||
        from.io_port() > 0xffff) {
        return fail(Errc::InvalidArgument, "malformed step launch");
    }
    Command to;
    to.argv = to_strings(from.argv());
    to.multi_prog = to_strings(from.multi_prog());
    to.work_dir = from.work_dir();
    to.pty = from.pty();
    if (from.pty_rows() > 0) to.pty_rows = static_cast<std::uint16_t>(from.pty_rows());
    if (from.pty_cols() > 0) to.pty_cols = static_cast<std::uint16_t>(from.pty_cols());
    to.std_in = from.std_in();
    to.std_out = from.std_out();
    to.std_err = from.std_err();
    to.label = from.label();
    to.open_mode = static_cast<model::OpenMode>(from.open_mode());
    to.stdin_to_all = from.stdin_to_all();
    if (from.has_stdin_task()) to.stdin_task = from.stdin_task();
    to.cpu_bind = from.cpu_bind();
    to.mem_bind = from.mem_bind();
    to.wait_for_children = from.wait_for_children();
    to.distribution = from.distribution();
    to.mpi = from.mpi();
    to.task_prolog = from.task_prolog();
    to.task_epilog = from.task_epilog();
    const wire::WarnSignal& warn = from.warn_signal();
    to.warn_signal = {warn.signal(), Seconds{warn.before()}, warn.batch_only(),
                      warn.for_reservation()};
    to.srun.host = from.io_host();
    to.srun.addresses = to_strings(from.io_addresses());
    to.srun.port = static_cast<std::uint16_t>(from.io_port());
    to.srun.unix_path = from.io_unix_path();
    to.srun.key = from.io_key();
    return to;
}

Result<Setup> read_setup(const wire::StepdSetup& from) {
    Setup to;
    to.spool = from.spool();
    to.containment.kind = from.containment();
    to.containment.place = from.place();
    for (const wire::KeyValue& each : from.cgroups()) {
        to.containment.folders.emplace_back(each.key(), each.value());
    }
    for (const std::string& cpus : from.core_cpus()) {
        SY_TRY(model::IndexSet set, model::parse_index_set(cpus));
        to.core_cpus.push_back(std::move(set));
    }
    to.pretend = from.pretend();
    for (const wire::GresInventory& each : from.gres()) {
        SY_TRY(model::GresInventory gres, wire::decode(each));
        to.gres.push_back(std::move(gres));
    }
    to.share_folder = from.share_folder();
    for (const wire::CardTurns& each : from.turns()) to.turns[each.device()] = each.memory();
    return to;
}

os::Identity read_identity(const wire::LaunchStep& from) {
    os::Identity who;
    who.uid = from.uid();
    who.gid = from.gid();
    who.groups.assign(from.groups().begin(), from.groups().end());
    if (!who.groups.empty()) return who;
    const auto user = os::find_user(who.uid);
    if (user) who.groups = os::groups_of(user->name, who.gid);
    if (who.groups.empty()) who.groups.push_back(who.gid);
    return who;
}

}  // namespace

Result<Launch> read_launch(const wire::AgentToStepd& message) {
    const wire::LaunchStep& from = message.launch();
    Launch to;
    to.key = wire::decode(from.key());
    to.node = from.node();
    to.cluster = from.cluster();
    to.config_path = from.config_path();
    to.user = from.user();
    to.node_index = from.node_index();
    SY_TRY(to.job, wire::decode(from.job()));
    SY_TRY(to.layout, wire::decode(from.layout()));
    if (from.has_step_spec()) {
        SY_TRY(to.spec, wire::decode(from.step_spec()));
    }
    if (to.node_index >= to.layout.nodes.size()) {
        return fail(Errc::InvalidArgument, "malformed step layout");
    }
    SY_TRY(to.job_grant, wire::decode(from.job_grant()));
    if (!from.has_job_grant()) to.job_grant = to.here().grant;
    to.who = read_identity(from);
    to.started = Instant{Millis{from.started()}};
    if (from.has_deadline()) to.deadline = Instant{Millis{from.deadline()}};
    to.kill_wait = Seconds{from.kill_wait()};
    for (const wire::HostAddress& each : from.hosts())
        to.hosts.push_back({each.name(), each.address()});
    to.constrain_cores = from.constrain_cores();
    to.constrain_memory = from.constrain_memory();
    to.constrain_devices = from.constrain_devices();
    to.sample_period = Seconds{from.sample_period()};
    to.task_prolog = from.task_prolog();
    to.task_epilog = from.task_epilog();
    if (from.has_batch()) to.payload = wire::decode(from.batch());
    if (from.has_step()) {
        SY_TRY(to.command, read_command(from.step()));
        to.payload.environment = to_strings(from.step().environment());
        to.payload.limits = read_limits(from.step().limits());
        to.payload.umask = from.step().umask();
    }
    SY_TRY(to.setup, read_setup(message.setup()));
    for (const wire::Job& each : from.het_jobs()) {
        SY_TRY(model::Job component, wire::decode(each));
        to.components.push_back(std::move(component));
    }
    if (from.has_het()) to.het = wire::decode(from.het());
    to.resv_ports = from.resv_ports();
    return to;
}

std::string socket_name(const StepSocket& socket) {
    const StepKey& key = socket.key;
    return fmt::format("{}.{}.{}.{}.sock", key.job.value, key.step.value, key.attempt.value,
                       socket.owner);
}

std::optional<StepSocket> parse_socket_name(std::string_view name) {
    constexpr std::size_t kNumbers = 4;
    const auto pieces = split(name, '.');
    if (pieces.size() != kNumbers + 1 || pieces[kNumbers] != "sock") return std::nullopt;
    std::uint32_t numbers[kNumbers];
    for (std::size_t i = 0; i < kNumbers; ++i) {
        const auto number = parse_uint(pieces[i]);
        if (!number || *number > 0xffffffffu) return std::nullopt;
        numbers[i] = static_cast<std::uint32_t>(*number);
    }
    return StepSocket{{JobId{numbers[0]}, Attempt{numbers[2]}, StepId{numbers[1]}}, numbers[3]};
}

}  // namespace switchyard::stepd
