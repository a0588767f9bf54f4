#include "controller/programs/job_programs.hpp"

#include <fmt/format.h>
#include <signal.h>

#include "model/script_environment.hpp"
#include "os/processes.hpp"

namespace switchyard::controller {
namespace {

constexpr std::size_t kAtOnceMax = 64;

constexpr std::string_view context_of(bool epilog) {
    return epilog ? "epilog_slurmctld" : "prolog_slurmctld";
}

// What a controller that was killed had begun: its programs are known by what they were told.
void kill_left_over(const config::Config& config) {
    for (const os::Process& process : os::list_processes()) {
        if (!os::has_environment(process.pid, ::geteuid(), "SLURM_CONF=" + config.path)) continue;
        for (const bool epilog : {false, true}) {
            const std::string told = fmt::format("SLURM_SCRIPT_CONTEXT={}", context_of(epilog));
            if (os::has_environment(process.pid, ::geteuid(), told)) ::kill(process.pid, SIGKILL);
        }
    }
}

}  // namespace

std::vector<std::string> program_environment(const config::Config& config, const model::Job& job,
                                             bool epilog) {
    const model::ScriptFacts facts{.job = job.id,
                                   .uid = job.spec->uid,
                                   .gid = job.spec->gid,
                                   .user = job.spec->user,
                                   .cluster = config.cluster_name,
                                   .config_path = config.path,
                                   .context = context_of(epilog)};
    return model::script_environment(facts, &job);
}

JobPrograms::JobPrograms(io::Loop& loop, const config::Config& config, os::Log& log, Ended ended)
    : log_(log), ended_(std::move(ended)), programs_(loop, os::Programs::Reaping::ByItself) {
    programs_.set_at_once_max(kAtOnceMax);
    if (!config.prolog_controller.empty() || !config.epilog_controller.empty())
        kill_left_over(config);
}

void JobPrograms::run(const config::Config& config, const ToProgram& order) {
    const core::effect::RunProgram& run = order.order;
    const auto& patterns = run.epilog ? config.epilog_controller : config.prolog_controller;
    const std::pair key(run.job, run.attempt);
    const auto id = programs_.add(
        {.programs = os::expand_programs(patterns),
         .environment = order.environment,
         .timeout = run.epilog ? config.epilog_timeout : config.prolog_timeout},
        [this, key, epilog = run.epilog](const Status& status) {
            if (!epilog) prologs_.erase(key);
            if (!status)
                log_.error("{} of job {}: {}", epilog ? "EpilogSlurmctld" : "PrologSlurmctld",
                           key.first.value, status.error().message);
            ended_({key.first, key.second, epilog, !status});
        });
    if (!run.epilog) prologs_[key] = id;
}

void JobPrograms::stop(const core::effect::StopProgram& order) {
    const auto found = prologs_.find({order.job, order.attempt});
    if (found == prologs_.end()) return;
    programs_.stop(found->second);
    prologs_.erase(found);
}

}  // namespace switchyard::controller
