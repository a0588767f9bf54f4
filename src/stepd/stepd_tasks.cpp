// stepd_tasks.cpp: what each process of a step is: its program, environment, files, cores.
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/beneath.hpp"
#include "os/files.hpp"
#include "os/no_containment.hpp"
#include "os/topology.hpp"
#include "pmi/server.hpp"
#include "stepd/environment.hpp"
#include "stepd/gpu_environment.hpp"
#include "stepd/multi_prog.hpp"
#include "stepd/stepd.hpp"

namespace switchyard::stepd {
namespace {

constexpr const char* kScriptName = "slurm_script";
constexpr mode_t kScriptFolderMode = 0711;
constexpr std::size_t kUnwrittenBytesMax = 4u << 20;  // Then a task's output waits in its pipe.

std::vector<os::ChildLimit> to_limits(const std::vector<model::ResourceLimit>& limits) {
    std::vector<os::ChildLimit> out;
    for (const model::ResourceLimit& limit : limits)
        out.push_back({limit.resource, limit.soft, limit.hard});
    return out;
}

// Where the cores are, and of each so many threads as the job wants to use.
void find_places(BindRequest& request, std::optional<std::uint32_t> threads) {
    for (model::IndexSet& core : request.cores) {
        if (core.empty()) continue;
        request.sockets.push_back(os::socket_of_cpu(core.front()));
        request.ldoms.push_back(os::domain_of_cpu(core.front()));
        if (threads && *threads < core.size()) core = core.first(*threads);
    }
}

void set_memory(os::ChildPlan& plan, const MemoryBinding& binding) {
    using Policy = MemoryBinding::Policy;
    if (binding.policy == Policy::Inherited) return;
    plan.memory_policy = binding.policy == Policy::Local   ? MPOL_LOCAL
                         : binding.policy == Policy::Bound ? MPOL_BIND
                                                           : MPOL_PREFERRED;
    for (const std::uint32_t domain : binding.domains.to_vector()) {
        if (domain < 64) plan.memory_domains |= std::uint64_t{1} << domain;
    }
}

}  // namespace

// The script is the user's, its folder is ours: nothing else can be put there, nor the script be
// swapped.
Result<std::string> Stepd::write_script() {
    script_folder_ = fmt::format("{}/job{}.{}", launch_.setup.spool, launch_.key.job.value,
                                 launch_.key.attempt.value);
    if (::mkdir(script_folder_.c_str(), kScriptFolderMode) != 0) {
        if (errno != EEXIST) return os::errno_failure(script_folder_);
        // Of a launch that was cut off.
        SY_CHECK(os::remove_tree(script_folder_));
        if (::mkdir(script_folder_.c_str(), kScriptFolderMode) != 0)
            return os::errno_failure(script_folder_);
    }
    SY_TRY(const io::Fd folder, os::open_folder(script_folder_));
    SY_CHECK(
        os::write_file_in(folder.get(), kScriptName, launch_.payload.script, 0700, launch_.who));
    return fmt::format("{}/{}", script_folder_, kScriptName);
}

// Usually there is nothing in its folder but the script.
void Stepd::remove_script() {
    if (script_folder_.empty()) return;
    ::unlink(fmt::format("{}/{}", script_folder_, kScriptName).c_str());
    if (::rmdir(script_folder_.c_str()) != 0) (void)os::remove_tree(script_folder_);
}

// What the batch script and srun's tasks have in common.
os::ChildPlan Stepd::child_plan() {
    os::ChildPlan plan;
    plan.pid_variable = "SLURM_TASK_PID";
    plan.who = launch_.who;
    plan.work_dir = work_dir(launch_);
    plan.umask = launch_.payload.umask;
    plan.limits = to_limits(launch_.payload.limits);
    if (launch_.constrain_cores && !walls_->pins_cores()) {
        plan.cpus = os::cpus_of_cores(launch_.setup.core_cpus, launch_.here().grant.cores);
    }
    return plan;
}

Status Stepd::plan_batch(Beginning& beginning) {
    const model::JobSpec& spec = *launch_.job.spec;
    const model::PatternFacts facts = pattern_facts(launch_, std::nullopt);
    const std::string out_pattern =
        spec.std_out.empty() ? default_output_pattern(launch_) : spec.std_out;
    const Opening opening =
        spec.open_mode == model::OpenMode::Append ? Opening::Append : Opening::Anew;
    SY_TRY(const std::string script, write_script());

    os::ChildPlan& plan = beginning.plan = child_plan();
    plan.files[1] = output_file(launch_, out_pattern, facts, opening);
    plan.error_with_output = spec.std_err.empty() || spec.std_err == out_pattern;
    if (!plan.error_with_output) plan.files[2] = output_file(launch_, spec.std_err, facts, opening);
    if (!spec.std_in.empty()) plan.files[0] = input_file(spec.std_in, facts);
    plan.reports_messages = true;
    plan.argv = {script};
    plan.argv.insert(plan.argv.end(), launch_.payload.arguments.begin(),
                     launch_.payload.arguments.end());
    plan.programs = {script};
    plan.environment = batch_environment(launch_);
    if (launch_.setup.containment.kind == "none") {
        plan.environment.push_back(fmt::format(
            "{}={}", os::kStepMarker, os::marker_of(launch_.setup.containment.place, launch_.key)));
    }
    return {};
}

Binding Stepd::find_binding() {
    BindRequest request;
    const model::StepNode& here = launch_.here();
    request.tasks = static_cast<std::uint32_t>(here.tasks.size());
    request.cpus_per_task = launch_.spec.cpus_per_task.value_or(1);
    request.wish = launch_.command.cpu_bind;
    const bool pinned = !os::cpus_of_cores(launch_.setup.core_cpus, here.grant.cores).empty();
    if (launch_.constrain_cores && pinned) {
        for (const std::uint32_t core : here.grant.cores.to_vector()) {
            request.cores.push_back(launch_.setup.core_cpus[core]);
        }
    }
    const std::string_view over_sockets = launch_.spec.distribution.sockets;
    request.distribution = over_sockets.substr(0, over_sockets.find(':'));
    find_places(request, launch_.job.spec->threads_per_core);
    auto binding = bind_tasks(request);
    if (binding) return *std::move(binding);
    say(binding.error().message);
    Binding none;
    none.tasks.resize(request.tasks);
    return none;
}

Status Stepd::prepare_tasks() {
    binding_ = find_binding();
    SY_CHECK(open_pmi());
    tasks_.resize(launch_.here().tasks.size());
    const auto count = static_cast<std::uint32_t>(tasks_.size());
    if (auto memory = bind_memory(launch_.command.mem_bind, count)) {
        binding_.memory = *std::move(memory);
    } else {
        say(memory.error().message);
        binding_.memory.resize(count);
    }
    return {};
}

Status Stepd::plan_task(std::uint32_t local, Beginning& beginning) {
    Task& task = tasks_[local];
    task.global = launch_.here().tasks[local];
    os::ChildPlan& plan = beginning.plan = child_plan();
    plan.environment = task_environment(launch_, local);
    if (launch_.setup.containment.kind == "none") {
        plan.environment.push_back(fmt::format(
            "{}={}", os::kStepMarker, os::marker_of(launch_.setup.containment.place, launch_.key)));
    }
    plan.argv = launch_.command.argv;
    if (!launch_.command.multi_prog.empty()) {
        SY_TRY(plan.argv, multi_prog_command(launch_.command.multi_prog, task.global));
    }
    if (plan.argv.empty()) return fail(Errc::InvalidArgument, "no command was given");
    plan.programs = os::program_candidates(plan.argv[0], plan.environment, plan.work_dir);
    if (!binding_.tasks[local].empty()) {
        plan.cpus = binding_.tasks[local];
        if (binding_.verbose)
            plan.preface = binding_line(launch_.node, task.global, local, 0, plan.cpus);
    }
    const MemoryBinding& memory = binding_.memory[local];
    set_memory(plan, memory);
    if (memory.verbose) plan.preface += memory_line(launch_.node, task.global, local, memory);
    plan.preface += gpu_binding_line(launch_, local);

    task.pipes = std::make_unique<TaskPipes>(
        loop_, [this, local](std::uint32_t stream, std::string_view data) {
            take_output(tasks_[local], stream, data);
        });
    SY_CHECK(plan_streams(task, beginning));
    plan.std_in = beginning.in.get();
    plan.std_out = beginning.out.get();
    plan.std_err = plan.terminal ? beginning.out.get() : beginning.err.get();
    // Nobody else would see what we have to say.
    plan.reports_messages = !launch_.has_srun() && local == 0;
    return {};
}

bool Stepd::takes_input(const Task& task) const {
    if (launch_.command.stdin_task) return task.global == *launch_.command.stdin_task;
    return launch_.command.stdin_to_all || task.global == 0;
}

Status Stepd::plan_streams(Task& task, Beginning& beginning) {
    os::ChildPlan& plan = beginning.plan;
    if (launch_.command.pty && task.global == 0) {
        const os::ActingAs user(launch_.who);
        SY_TRY(os::Pty pty, os::open_pty(launch_.command.pty_rows, launch_.command.pty_cols));
        task.pipes->use_terminal(std::move(pty.master));
        plan.terminal = true;
        beginning.in.reset(::fcntl(pty.slave.get(), F_DUPFD_CLOEXEC, 3));
        beginning.out = std::move(pty.slave);
        return {};
    }
    SY_TRY(beginning.in, plan_stream(task, 0, plan.files[0]));
    SY_TRY(beginning.out, plan_stream(task, 1, plan.files[1]));
    // "-e" with the name of "-o", or "-o" alone with a file: both go to one place.
    const Command& command = launch_.command;
    plan.error_with_output = !command.label && !command.std_out.empty() &&
                             (command.std_err.empty() || command.std_err == command.std_out);
    if (!plan.error_with_output) {
        SY_TRY(beginning.err, plan_stream(task, 2, plan.files[2]));
    }
    return {};
}

// A file where a pattern was given; else a pipe to srun. Input that is not for this task is empty.
Result<io::Fd> Stepd::plan_stream(Task& task, std::uint32_t stream, os::ChildFile& file) {
    const Command& command = launch_.command;
    const bool with_out = stream == 2 && command.std_err.empty();
    const std::string& pattern = stream == 0               ? command.std_in
                                 : stream == 1 || with_out ? command.std_out
                                                           : command.std_err;
    const model::PatternFacts facts = pattern_facts(launch_, task.global);
    if (stream == 0) {
        if (pattern.empty() && takes_input(task)) return task.pipes->open(0);
        if (!pattern.empty()) file = input_file(pattern, facts);
        return io::Fd();
    }
    if (pattern.empty()) return task.pipes->open(stream);
    const auto local = static_cast<std::size_t>(&task - tasks_.data());
    // The second stream of a task in one file goes on where the first has begun it.
    const Opening opening = stream == 2 && pattern == command.std_out
                                ? Opening::Append
                                : opening_of(launch_, pattern, local);
    file = output_file(launch_, pattern, facts, opening);
    if (!command.label) return io::Fd();
    file.handed_over = true;
    const std::uint32_t count = launch_.het ? launch_.het->tasks : launch_.layout.task_count();
    (stream == 1 ? task.out_file : task.err_file) = std::make_unique<LabelledFile>(loop_, count);
    return task.pipes->open(stream);
}

void Stepd::take_output(Task& task, std::uint32_t stream, std::string_view data) {
    LabelledFile* file = stream == 1 ? task.out_file.get() : task.err_file.get();
    if (file == nullptr) {
        hand_out(task.global, stream, data);
        return throttle();
    }
    file->take(task.global + (launch_.het ? launch_.het->task_offset : 0), data);
    if (file->unwritten_bytes() <= kUnwrittenBytesMax || stage_ != Stage::Running) return;
    task.pipes->pause(true);
    file->on_written([&task] { task.pipes->pause(false); });
}

}  // namespace switchyard::stepd
