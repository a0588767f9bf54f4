#include "agent/job_scripts.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/hostlist.hpp"
#include "os/child.hpp"
#include "os/files.hpp"
#include "stepd/gpu_environment.hpp"
#include "wire/codec.hpp"

namespace switchyard::agent {
namespace {

constexpr std::size_t kCleanedMax = 4096;

// The programs that the patterns mean, in their order, each pattern's by name. A path that means
// none stays as it is, and running it will say so.
std::vector<std::string> expand(const std::vector<std::string>& patterns) {
    std::vector<std::string> programs;
    for (const std::string& pattern : patterns) {
        glob_t found{};
        const bool any_character = pattern.find_first_of("*?[") != std::string::npos;
        if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
            programs.insert(programs.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
        } else if (!any_character) {
            programs.push_back(pattern);
        }
        ::globfree(&found);
    }
    return programs;
}

Status judge(const std::string& program, int status, bool timed_out) {
    if (timed_out) return fail(Errc::Timeout, program + ": timed out");
    if (WIFSIGNALED(status))
        return fail(Errc::Io, fmt::format("{}: killed by signal {}", program, WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return fail(Errc::Io, fmt::format("{}: exit code {}", program, WEXITSTATUS(status)));
    return {};
}

void add_allocation(const model::Job& job, const std::string& node,
                    std::vector<std::string>& variables) {
    const model::Allocation* allocation = model::allocation_of(job);
    if (allocation == nullptr) return;
    std::vector<std::string> nodes;
    for (const model::NodeGrant& grant : allocation->nodes) nodes.push_back(grant.node);
    variables.push_back("SLURM_JOB_NODELIST=" + model::compress_hostlist(nodes));
    if (const model::NodeGrant* here = allocation->find(node)) {
        std::vector<std::string> cards;
        for (const std::uint32_t card : stepd::visible_devices(*here))
            cards.push_back(std::to_string(card));
        if (!cards.empty()) variables.push_back("SLURM_JOB_GPUS=" + join(cards, ","));
    }
}

}  // namespace

JobScripts::JobScripts(io::Loop& loop, const os::Log& log) : loop_(loop), log_(log) {}
JobScripts::~JobScripts() = default;

std::string JobScripts::marker(const JobKey& job) const {
    return fmt::format("{}/prolog.{}.{}", setup_.spool, job.first.value, job.second.value);
}

bool JobScripts::is_prepared(const JobKey& job) const {
    return setup_.prolog.empty() || os::exists(marker(job));
}

std::vector<std::string> JobScripts::environment(const ScriptJob& job, bool epilog) const {
    std::vector<std::string> variables = {
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        fmt::format("SLURM_JOB_ID={}", job.key.first.value),
        fmt::format("SLURM_JOBID={}", job.key.first.value),
        fmt::format("SLURM_JOB_UID={}", job.uid),
        fmt::format("SLURM_UID={}", job.uid),
        fmt::format("SLURM_JOB_GID={}", job.gid),
        "SLURM_JOB_USER=" + job.user,
        "SLURM_CLUSTER_NAME=" + setup_.cluster,
        "SLURM_CONF=" + setup_.config_path,
        "SLURMD_NODENAME=" + setup_.node,
        fmt::format("SLURM_SCRIPT_CONTEXT={}", epilog ? "epilog_slurmd" : "prolog_slurmd"),
    };
    const auto record = wire::decode(job.record);
    if (!record || !record->spec) return variables;
    const model::JobSpec& spec = *record->spec;
    const auto add = [&](std::string_view name, const std::string& value) {
        if (!value.empty()) variables.push_back(fmt::format("{}={}", name, value));
    };
    add("SLURM_JOB_NAME", spec.name);
    add("SLURM_JOB_PARTITION", record->partition);
    add("SLURM_JOB_ACCOUNT", spec.account);
    add("SLURM_JOB_GROUP", spec.group);
    add("SLURM_JOB_COMMENT", spec.comment);
    add("SLURM_JOB_CONSTRAINTS", spec.constraint);
    add("SLURM_JOB_WORK_DIR", spec.work_dir);
    if (record->array && record->array->element) {
        add("SLURM_ARRAY_JOB_ID", std::to_string(record->array->array_id.value));
        add("SLURM_ARRAY_TASK_ID", std::to_string(*record->array->element));
    }
    add_allocation(*record, setup_.node, variables);
    return variables;
}

bool JobScripts::is_preparing(const JobKey& job) const {
    return std::ranges::any_of(runs_,
                               [&](const Run& run) { return run.job == job && !run.epilog; });
}

void JobScripts::forget(const JobKey& job) { ::unlink(marker(job).c_str()); }

void JobScripts::forget_before(Instant time) {
    const auto names = os::list_folder(setup_.spool);
    if (!names) return;
    for (const std::string& name : *names) {
        const std::string path = setup_.spool + "/" + name;
        struct stat facts{};
        if (!name.starts_with("prolog.") || ::stat(path.c_str(), &facts) != 0) continue;
        if (Instant{Seconds{facts.st_mtime}} < time) ::unlink(path.c_str());
    }
}

void JobScripts::prepare(const ScriptJob& job, Done done) { add(job, false, std::move(done)); }

bool JobScripts::clean_up(const ScriptJob& job, Done done) {
    if (setup_.epilog.empty() || cleaned_.contains(job.key)) return false;
    add(job, true, std::move(done));
    return true;
}

void JobScripts::add(const ScriptJob& job, bool epilog, Done done) {
    Run& run = runs_.emplace_back();
    run.job = job.key;
    run.epilog = epilog;
    run.programs = expand(epilog ? setup_.epilog : setup_.prolog);
    run.environment = environment(job, epilog);
    run.timeout = epilog ? setup_.epilog_timeout : setup_.prolog_timeout;
    run.done = std::move(done);
    // Not from inside the caller, who is told when it is over.
    run.timer = loop_.after(Millis{0}, [this] { start_next(); });
}

// All that wait to begin; only the first where they must not run side by side.
void JobScripts::start_next() {
    for (auto run = runs_.begin(); run != runs_.end();) {
        const auto at = run++;
        if (at->pid != 0) {
            if (setup_.serial) return;
            continue;
        }
        if (at->programs.empty()) {
            finish(at, {});
            continue;
        }
        start(*at);
        if (at->pid == 0) {
            finish(at, fail(Errc::Io, at->programs.front() + ": cannot be started"));
        } else if (setup_.serial) {
            return;
        }
    }
}

void JobScripts::start(Run& run) {
    os::ChildPlan plan;
    plan.argv = plan.programs = {run.programs.front()};
    plan.environment = run.environment;
    plan.who = {::geteuid(), ::getegid(), {}};
    plan.work_dir = "/tmp";
    if (const auto pid = os::start_child(std::move(plan))) run.pid = *pid;
    run.timer = {};
    if (run.pid == 0 || run.timeout.count() == 0) return;
    run.timer = loop_.after(run.timeout, [&run] {
        run.timed_out = true;
        ::kill(-run.pid, SIGKILL);  // It leads a session of its own.
    });
}

bool JobScripts::owns(pid_t pid) const {
    return std::ranges::find(runs_, pid, &Run::pid) != runs_.end();
}

bool JobScripts::on_exit(pid_t pid, int status) {
    const auto run = std::ranges::find(runs_, pid, &Run::pid);
    if (pid <= 0 || run == runs_.end()) return false;
    run->pid = 0;
    run->timer = {};
    const Status judged = judge(run->programs.front(), status, run->timed_out);
    run->programs.erase(run->programs.begin());
    if (!judged || run->programs.empty()) {
        finish(run, judged);
    } else {
        start(*run);
        if (run->pid == 0)
            finish(run, fail(Errc::Io, run->programs.front() + ": cannot be started"));
    }
    if (setup_.serial) start_next();
    return true;
}

void JobScripts::finish(Runs::iterator at, const Status& status) {
    Runs ended;
    ended.splice(ended.begin(), runs_, at);
    const Run& run = ended.front();
    if (!status) {
        log_.error(fmt::format("{} of job {}: {}", run.epilog ? "Epilog" : "Prolog",
                               run.job.first.value, status.error().message));
    }
    if (run.epilog) {
        if (cleaned_.insert(run.job).second) cleaned_order_.push_back(run.job);
        if (cleaned_order_.size() > kCleanedMax) {
            cleaned_.erase(cleaned_order_.front());
            cleaned_order_.pop_front();
        }
    } else if (status) {
        (void)os::write_new_file(marker(run.job), "", 0600);
    }
    run.done(status);
}

}  // namespace switchyard::agent
