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
#include "stepd/task_scripts.hpp"

namespace switchyard::stepd {
namespace {

constexpr const char* kScriptName = "slurm_script";
constexpr mode_t kScriptFolderMode = 0711;

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
os::ChildPlan Stepd::child_plan(const WorkDir& dir) {
    os::ChildPlan plan;
    plan.pid_variable = "SLURM_TASK_PID";
    plan.who = launch_.who;
    plan.work_dir = dir.path;
    plan.umask = launch_.payload.umask;
    plan.limits = to_limits(launch_.payload.limits);
    if (launch_.constrain_cores && !walls_->pins_cores()) {
        plan.cpus = os::cpus_of_cores(launch_.setup.core_cpus, launch_.here().grant.cores);
    }
    return plan;
}

// TaskProlog of the site, then srun's own. Before anything else of the task exists.
Status Stepd::run_prologs(os::ChildPlan& plan) {
    for (const std::string& program : {launch_.task_prolog, launch_.command.task_prolog}) {
        if (program.empty()) continue;
        os::ChildPlan script = plan;
        SY_TRY(script.entrance, walls_->entrance(launch_.key));
        SY_TRY(const std::string printed, run_task_script(program, std::move(script)));
        const std::string shown = apply_task_prolog(printed, plan.environment);
        if (!shown.empty() && plan.std_out >= 0) {
            [[maybe_unused]] const ssize_t sent = ::write(plan.std_out, shown.data(), shown.size());
        }
    }
    return {};
}

void Stepd::run_epilogs(const Task& task) {
    for (const std::string& program : {launch_.command.task_epilog, launch_.task_epilog}) {
        if (program.empty()) continue;
        os::ChildPlan plan = child_plan(find_work_dir(launch_));
        plan.environment = task.environment;
        auto entrance = walls_->entrance(launch_.key);
        if (entrance) plan.entrance = *std::move(entrance);
        if (const auto done = run_task_script(program, std::move(plan)); !done) {
            log_.error(fmt::format("{}: {}", model::to_string(launch_.key), done.error().message));
        }
    }
}

Status Stepd::start_batch() {
    const model::JobSpec& spec = *launch_.job.spec;
    const WorkDir dir = find_work_dir(launch_);
    const model::PatternFacts facts = pattern_facts(launch_, std::nullopt);
    const std::string out_pattern =
        spec.std_out.empty() ? default_output_pattern(launch_) : spec.std_out;
    const Opening opening =
        spec.open_mode == model::OpenMode::Append ? Opening::Append : Opening::Anew;
    SY_TRY(const io::Fd out, open_output(launch_, out_pattern, facts, dir.path, opening));
    io::Fd err, in;
    if (!spec.std_err.empty() && spec.std_err != out_pattern) {
        SY_TRY(err, open_output(launch_, spec.std_err, facts, dir.path, opening));
    }
    if (!spec.std_in.empty()) {
        SY_TRY(in, open_input(launch_, spec.std_in, facts, dir.path));
    }
    SY_TRY(const std::string script, write_script());

    os::ChildPlan plan = child_plan(dir);
    plan.argv = {script};
    plan.argv.insert(plan.argv.end(), launch_.payload.arguments.begin(),
                     launch_.payload.arguments.end());
    plan.programs = {script};
    plan.environment = batch_environment(launch_);
    if (launch_.setup.containment.kind == "none") {
        plan.environment.push_back(fmt::format(
            "{}={}", os::kStepMarker, os::marker_of(launch_.setup.containment.place, launch_.key)));
    }
    plan.std_in = in.get();
    plan.std_out = out.get();
    plan.std_err = err ? err.get() : out.get();
    if (!dir.complaint.empty()) plan.preface = os::log_line("error: ", dir.complaint);
    messages_.reset(::fcntl(plan.std_err, F_DUPFD_CLOEXEC, 3));
    SY_CHECK(run_prologs(plan));
    SY_TRY(plan.entrance, walls_->entrance(launch_.key));
    Task task;
    if (!launch_.task_epilog.empty()) task.environment = plan.environment;
    SY_TRY(task.pid, os::start_child(std::move(plan)));
    tasks_.push_back(std::move(task));
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

Status Stepd::start_tasks() {
    const WorkDir dir = find_work_dir(launch_);
    if (!dir.complaint.empty()) say(dir.complaint);
    Binding binding = find_binding();
    SY_CHECK(open_pmi());
    tasks_.resize(launch_.here().tasks.size());
    const auto count = static_cast<std::uint32_t>(tasks_.size());
    if (auto memory = bind_memory(launch_.command.mem_bind, count)) {
        binding.memory = *std::move(memory);
    } else {
        say(memory.error().message);
        binding.memory.resize(count);
    }
    for (std::uint32_t local = 0; local < tasks_.size(); ++local) {
        tasks_[local].global = launch_.here().tasks[local];
        SY_CHECK(start_task(local, binding, dir));
    }
    return {};
}

Status Stepd::start_task(std::uint32_t local, const Binding& binding, const WorkDir& dir) {
    Task& task = tasks_[local];
    os::ChildPlan plan = child_plan(dir);
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
    plan.programs = os::program_candidates(plan.argv[0], plan.environment, dir.path);
    if (!binding.tasks[local].empty()) {
        plan.cpus = binding.tasks[local];
        if (binding.verbose)
            plan.preface = binding_line(launch_.node, task.global, local, 0, plan.cpus);
    }
    const MemoryBinding& memory = binding.memory[local];
    set_memory(plan, memory);
    if (memory.verbose) plan.preface += memory_line(launch_.node, task.global, local, memory);
    plan.preface += gpu_binding_line(launch_, local);
    if (!dir.complaint.empty()) plan.preface += os::log_line("error: ", dir.complaint);

    task.pipes = std::make_unique<TaskPipes>(
        loop_, [this, local](std::uint32_t stream, std::string_view data) {
            take_output(tasks_[local], stream, data);
        });
    SY_TRY(TaskFiles files, open_files(task, dir));
    plan.std_in = files.in.get();
    plan.std_out = files.out.get();
    plan.std_err = files.terminal ? files.out.get() : files.err.get();
    plan.terminal = files.terminal;
    // Nobody else would see what we have to say.
    if (!launch_.has_srun() && !messages_)
        messages_.reset(::fcntl(plan.std_err, F_DUPFD_CLOEXEC, 3));
    SY_CHECK(run_prologs(plan));
    task.environment = plan.environment;
    pmi::Door door;
    if (pmi_) {
        SY_TRY(door, pmi_->open_door(local));
        plan.environment.insert(plan.environment.end(), door.environment.begin(),
                                door.environment.end());
        plan.kept = door.fd.get();
    }
    SY_TRY(plan.entrance, walls_->entrance(launch_.key));
    SY_TRY(task.pid, os::start_child(std::move(plan)));
    files = {};
    task.pipes->start();
    return {};
}

bool Stepd::takes_input(const Task& task) const {
    if (launch_.command.stdin_task) return task.global == *launch_.command.stdin_task;
    return launch_.command.stdin_to_all || task.global == 0;
}

Result<Stepd::TaskFiles> Stepd::open_files(Task& task, const WorkDir& dir) {
    TaskFiles files;
    if (launch_.command.pty && task.global == 0) {
        const os::ActingAs user(launch_.who);
        SY_TRY(os::Pty pty, os::open_pty(launch_.command.pty_rows, launch_.command.pty_cols));
        task.pipes->use_terminal(std::move(pty.master));
        files.terminal = true;
        files.in.reset(::fcntl(pty.slave.get(), F_DUPFD_CLOEXEC, 3));
        files.out = std::move(pty.slave);
        return files;
    }
    SY_TRY(files.in, open_stream(task, 0, dir));
    SY_TRY(files.out, open_stream(task, 1, dir));
    // "-e" with the name of "-o", or "-o" alone with a file: both go to one place.
    const Command& command = launch_.command;
    const bool shared =
        !command.std_out.empty() && (command.std_err.empty() || command.std_err == command.std_out);
    if (shared && !command.label) {
        files.err.reset(::fcntl(files.out.get(), F_DUPFD_CLOEXEC, 3));
    } else {
        SY_TRY(files.err, open_stream(task, 2, dir));
    }
    return files;
}

// A file where a pattern was given; else a pipe to srun. Input that is not for this task is empty.
Result<io::Fd> Stepd::open_stream(Task& task, std::uint32_t stream, const WorkDir& dir) {
    const Command& command = launch_.command;
    const bool with_out = stream == 2 && command.std_err.empty();
    const std::string& pattern = stream == 0               ? command.std_in
                                 : stream == 1 || with_out ? command.std_out
                                                           : command.std_err;
    const model::PatternFacts facts = pattern_facts(launch_, task.global);
    if (stream == 0) {
        if (!pattern.empty()) return open_input(launch_, pattern, facts, dir.path);
        if (!takes_input(task)) return io::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
        return task.pipes->open(0);
    }
    if (!pattern.empty()) {
        const auto local = static_cast<std::size_t>(&task - tasks_.data());
        // The second stream of a task in one file goes on where the first has begun it.
        const Opening opening = stream == 2 && pattern == command.std_out
                                    ? Opening::Append
                                    : opening_of(launch_, pattern, local);
        SY_TRY(io::Fd file, open_output(launch_, pattern, facts, dir.path, opening));
        if (!command.label) return file;
        const std::uint32_t count = launch_.het ? launch_.het->tasks : launch_.layout.task_count();
        (stream == 1 ? task.out_file : task.err_file) =
            std::make_unique<LabelledFile>(std::move(file), count);
    }
    return task.pipes->open(stream);
}

void Stepd::take_output(const Task& task, std::uint32_t stream, std::string_view data) {
    LabelledFile* file = stream == 1 ? task.out_file.get() : task.err_file.get();
    if (file != nullptr)
        return file->take(task.global + (launch_.het ? launch_.het->task_offset : 0), data);
    hand_out(task.global, stream, data);
    throttle();
}

}  // namespace switchyard::stepd
