#include "controller/queries/config_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/limits.hpp"
#include "base/log_level.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "controller/queries/config_layout.hpp"
#include "model/time_format.hpp"

namespace switchyard::controller {
namespace {

using Values = ConfigValues;

std::string or_null(const std::string& text) { return text.empty() ? "(null)" : text; }
std::string yes_no(bool value) { return value ? "yes" : "no"; }
std::string zero_one(bool value) { return value ? "1" : "0"; }
std::string in_seconds(Seconds value) { return fmt::format("{} sec", value.count()); }
std::string or_unlimited(const std::optional<model::MiB>& value) {
    return value ? std::to_string(value->value) : "UNLIMITED";
}
std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
    return text;
}

void add_programs(std::string_view key, const std::vector<std::string>& programs, Values& out) {
    for (std::size_t i = 0; i < programs.size(); ++i)
        out.emplace_back(fmt::format("{}[{}]", key, i), programs[i]);
}

// What Slurm shows for a time without an end.
std::string or_endless(Seconds value) {
    return value.count() == 0 ? "65534" : std::to_string(value.count());
}

void add_jobs(const config::Config& c, Values& out) {
    out.emplace_back("BatchStartTimeout", in_seconds(c.batch_start_timeout));
    out.emplace_back("ClusterName", c.cluster_name);
    out.emplace_back("CompleteWait", in_seconds(c.complete_wait));
    if (c.def_mem_per_cpu) {
        out.emplace_back("DefMemPerCPU", std::to_string(c.def_mem_per_cpu->value));
    } else {
        out.emplace_back("DefMemPerNode", or_unlimited(c.def_mem_per_node));
    }
    out.emplace_back("DependencyParameters", or_null(c.dependency_parameters));
    out.emplace_back("DisableRootJobs", yes_no(c.disable_root_jobs));
    out.emplace_back("EnforcePartLimits", c.enforce_part_limits ? "ALL" : "NO");
    add_programs("Epilog", c.epilog, out);
    add_programs("EpilogSlurmctld", c.epilog_controller, out);
    out.emplace_back("FirstJobId", std::to_string(c.first_job_id));
    out.emplace_back("GresTypes", or_null(join(c.gres_types, ",")));
    out.emplace_back("InactiveLimit", in_seconds(c.inactive_limit));
    out.emplace_back("JobAcctGatherFrequency", c.job_acct_gather_frequency);
    out.emplace_back("JobRequeue", zero_one(c.job_requeue));
    out.emplace_back("KillWait", in_seconds(c.kill_wait));
    out.emplace_back("LaunchParameters", or_null(c.launch_parameters));
    out.emplace_back("Licenses", or_null(model::format_licenses(c.licenses)));
    out.emplace_back("LogTimeFormat", "iso8601_ms");
    out.emplace_back("MailDomain", or_null(c.mail_domain));
    out.emplace_back("MailProg", c.mail_prog);
    out.emplace_back("MaxArraySize", std::to_string(c.max_array_size));
    out.emplace_back("MaxJobCount", std::to_string(c.max_job_count));
    out.emplace_back("MaxJobId", std::to_string(UINT32_MAX));
    out.emplace_back("MaxTasksPerNode", std::to_string(limits::kTasksMax));
    if (c.max_mem_per_cpu) {
        out.emplace_back("MaxMemPerCPU", std::to_string(c.max_mem_per_cpu->value));
    } else {
        out.emplace_back("MaxMemPerNode", or_unlimited(c.max_mem_per_node));
    }
    out.emplace_back("MaxNodeCount", std::to_string(c.nodes.size()));
    out.emplace_back("MaxStepCount", std::to_string(limits::kStepsPerJobMax));
    out.emplace_back("MinJobAge", in_seconds(c.min_job_age));
    out.emplace_back("MpiDefault", c.mpi_default == "none" ? "(null)" : or_null(c.mpi_default));
    out.emplace_back("OverTimeLimit", fmt::format("{} min", c.over_time_limit.value_or(0)));
    out.emplace_back("ResvOverRun", fmt::format("{} min", c.resv_over_run.value_or(0)));
}

void add_site(const config::Config& c, std::uint32_t slurm_user, Values& out) {
    out.emplace_back("AccountingStoreFlags", or_null(c.accounting_store_flags));
    out.emplace_back("PreemptMode", std::string(to_string(c.preempt_mode.mode)) +
                                        (c.preempt_mode.gang ? ",GANG" : ""));
    out.emplace_back("PreemptParameters", or_null(c.preempt_parameters));
    out.emplace_back("PreemptType", c.preempt_type == "preempt/none" ? "(null)" : c.preempt_type);
    out.emplace_back("PreemptExemptTime", model::format_duration(c.preempt_exempt_time));
    out.emplace_back("PriorityType", "priority/basic");
    out.emplace_back("PrivateData", "none");
    out.emplace_back("ProctrackType", or_null(c.proctrack_type));
    add_programs("Prolog", c.prolog, out);
    add_programs("PrologSlurmctld", c.prolog_controller, out);
    out.emplace_back("PrologEpilogTimeout",
                     or_endless(std::max(c.prolog_timeout, c.epilog_timeout)));
    out.emplace_back("PrologFlags", or_null(c.prolog_flags));
    out.emplace_back("PropagateResourceLimits", c.propagate_limits);
    out.emplace_back("PropagateResourceLimitsExcept", or_null(c.propagate_limits_except));
    out.emplace_back("AuthAltParameters", or_null(c.auth_alt_parameters));
    out.emplace_back("RebootProgram", or_null(c.reboot_program));
    out.emplace_back("ResumeTimeout", in_seconds(c.resume_timeout));
    out.emplace_back("UnkillableStepProgram", or_null(c.unkillable_program));
    out.emplace_back("UnkillableStepTimeout", in_seconds(c.unkillable_timeout));
    out.emplace_back("ReturnToService", std::to_string(c.return_to_service));
    out.emplace_back("SchedulerParameters", or_null(c.scheduler_parameters));
    out.emplace_back("SchedulerType", c.scheduler_type);
    out.emplace_back("SelectType", c.select_type);
    out.emplace_back("SelectTypeParameters", upper(c.select_type_parameters));
    out.emplace_back("SlurmUser", fmt::format("{}({})", c.slurm_user, slurm_user));
    for (std::size_t i = 0; i < c.controllers.size(); ++i) {
        const config::ControllerHost& host = c.controllers[i];
        out.emplace_back(
            fmt::format("SlurmctldHost[{}]", i),
            host.address.empty() ? host.host : fmt::format("{}({})", host.host, host.address));
    }
    out.emplace_back("SlurmctldLogFile", or_null(c.controller_log));
    out.emplace_back("SlurmctldPort", std::to_string(c.controller_port));
    out.emplace_back("SlurmdLogFile", or_null(c.agent_log));
    out.emplace_back("SlurmdPidFile", or_null(c.agent_pid_file));
    out.emplace_back("SlurmdSpoolDir", c.spool_dir);
    out.emplace_back("SlurmdTimeout", in_seconds(c.slurmd_timeout));
    out.emplace_back("SlurmdUser", "root(0)");
    out.emplace_back("SlurmctldPidFile", or_null(c.controller_pid_file));
    out.emplace_back("SLURM_CONF", c.path);
    out.emplace_back("SLURM_VERSION", std::string(kSlurmRelease));
    out.emplace_back("StateSaveLocation", c.state_dir);
    out.emplace_back("SwitchyardGpuIdleAction", c.gpu_idle_action);
    out.emplace_back("SwitchyardGpuIdlePercent", std::to_string(c.gpu_idle_percent));
    out.emplace_back("SwitchyardGpuIdleTime", in_seconds(c.gpu_idle_time));
    out.emplace_back("SwitchyardGpuSampleTime", in_seconds(c.gpu_sample_time));
    out.emplace_back("SwitchyardKeyFile", c.key_file);
    out.emplace_back("SwitchyardRunDir", c.run_dir);
    out.emplace_back("TaskEpilog", or_null(c.task_epilog));
    out.emplace_back("TaskPlugin", or_null(c.task_plugin));
    out.emplace_back("TaskProlog", or_null(c.task_prolog));
    out.emplace_back("TmpFS", c.tmp_fs);
    out.emplace_back("TopologyPlugin",
                     c.topology_plugin.empty() ? "topology/flat" : c.topology_plugin);
}

// As it is now: scontrol setdebug changes it while the controller runs.
void add_log(const config::Config& c, const os::Log& log, Values& out) {
    out.emplace_back("DebugFlags", or_null(log.topics()));
    out.emplace_back("SlurmctldDebug", std::string(log_level_name(log.level())));
    out.emplace_back("SlurmdDebug", c.agent_debug);
    out.emplace_back("SlurmSchedLogFile", or_null(c.sched_log_file));
    out.emplace_back("SlurmSchedLogLevel", zero_one(log.shows(os::Log::Topic::Scheduler)));
}

void add_fixed(Instant booted, JobId next_job, Values& out) {
    // The history is kept, as by a database daemon; clients look here before they use sacct.
    out.emplace_back("AccountingStorageType", "accounting_storage/slurmdbd");
    out.emplace_back("AuthType", "auth/switchyard");
    out.emplace_back("BOOT_TIME", model::format_instant(booted));
    out.emplace_back("CredType", "cred/switchyard");
    out.emplace_back("MULTIPLE_SLURMD", "yes");
    out.emplace_back("NEXT_JOB_ID", std::to_string(next_job.value));
    out.emplace_back("TLSType", "tls/psk");
}

}  // namespace

std::vector<std::pair<std::string, std::string>> config_values(const config::Config& config,
                                                               const os::Log& log, Instant booted,
                                                               JobId next_job,
                                                               std::uint32_t slurm_user) {
    Values out;
    add_fixed(booted, next_job, out);
    add_log(config, log, out);
    add_jobs(config, out);
    add_site(config, slurm_user, out);
    return lay_out(std::move(out));
}

}  // namespace switchyard::controller
