#include "config/keys.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/log_level.hpp"
#include "base/text.hpp"
#include "config/history_keys.hpp"
#include "config/key_names.hpp"
#include "config/preempt_keys.hpp"

namespace switchyard::config {
namespace {

Status set_cluster_name(Config& config, std::string_view value) {
    config.cluster_name = to_lower(value);  // As Slurm does; it is part of folder names.
    if (config.cluster_name.find('/') != std::string::npos) {
        return fail(Errc::InvalidArgument, "the name of a cluster cannot contain a slash");
    }
    return {};
}

// host or host(address); each line adds one.
Status add_controller(Config& config, std::string_view value) {
    ControllerHost host;
    const std::size_t open = value.find('(');
    host.host = std::string(value.substr(0, open));
    if (open != std::string_view::npos) {
        if (value.back() != ')' || open + 2 > value.size() - 1) {
            return fail(Errc::InvalidArgument, fmt::format("\"{}\" is not host(address)", value));
        }
        host.address = std::string(value.substr(open + 1, value.size() - open - 2));
    }
    if (host.host.empty())
        return fail(Errc::InvalidArgument, fmt::format("\"{}\" names no host", value));
    config.controllers.push_back(std::move(host));
    return {};
}

ControllerHost& first_controller(Config& config) {
    if (config.controllers.empty()) config.controllers.emplace_back();
    return config.controllers.front();
}
Status set_control_machine(Config& config, std::string_view value) {
    first_controller(config).host = std::string(value.substr(0, value.find(',')));
    return {};
}
Status set_control_address(Config& config, std::string_view value) {
    first_controller(config).address = std::string(value);
    return {};
}

// A port, or a range of which the first is used.
Status set_port(Config& config, std::string_view value) {
    return set_number<Config, &Config::controller_port, UINT16_MAX>(
        config, value.substr(0, value.find('-')));
}

Status set_enforce_part_limits(Config& config, std::string_view value) {
    if (equals_ignoring_case(value, "all") || equals_ignoring_case(value, "any")) {
        config.enforce_part_limits = true;
        return {};
    }
    return set_flag<Config, &Config::enforce_part_limits>(config, value);
}

Status set_select_type(Config& config, std::string_view value) {
    if (value != "select/cons_tres" && value != "select/cons_res" && value != "select/linear") {
        return fail(Errc::InvalidArgument,
                    fmt::format("\"{}\" is neither select/cons_tres nor select/linear", value));
    }
    config.select_type = std::string(value);
    return {};
}

Status set_idle_action(Config& config, std::string_view value) {
    config.gpu_idle_action = to_lower(value);
    for (const std::string_view known : {"none", "mail", "cancel", "requeue"}) {
        if (config.gpu_idle_action == known) return {};
    }
    return fail(Errc::InvalidArgument,
                fmt::format("\"{}\" is none of none, mail, cancel, requeue", value));
}

Status set_licenses(Config& config, std::string_view value) {
    auto licenses = model::parse_licenses(value);
    if (!licenses)
        return fail(Errc::InvalidArgument,
                    fmt::format("\"{}\" is not a list of name:count", value));
    config.licenses = *std::move(licenses);
    return {};
}

Status set_gres_types(Config& config, std::string_view value) {
    for (std::string& type : parse_list(value)) config.gres_types.push_back(std::move(type));
    return {};
}

// Each line adds one; it is found beside slurm.conf if its path is not absolute.
template <std::vector<std::string> Config::* Member>
Status add_program(Config& config, std::string_view value) {
    if (value == "(null)" || equals_ignoring_case(value, "none")) return {};
    const std::string folder = config.path.substr(0, config.path.rfind('/') + 1);
    (config.*Member)
        .push_back(value.starts_with('/') ? std::string(value) : folder + std::string(value));
    return {};
}

// 65534 is how Slurm writes a time without an end.
template <Seconds Config::* Member>
Status set_timeout(Config& config, std::string_view value) {
    SY_TRY(const Seconds seconds, parse_seconds(value));
    config.*Member = is_unlimited(value) || seconds.count() == 65534 ? Seconds{0} : seconds;
    return {};
}
Status set_both_timeouts(Config& config, std::string_view value) {
    SY_CHECK(set_timeout<&Config::prolog_timeout>(config, value));
    config.epilog_timeout = config.prolog_timeout;
    return {};
}

// Containers of jobs are always made, and steps wait for the Prolog on their node, so that Contain
// and NoHold say nothing new.
Status set_prolog_flags(Config& config, std::string_view value) {
    config.prolog_flags = std::string(value);
    config.prolog_at_alloc = config.prolog_serial = false;
    for (const std::string& flag : parse_list(value)) {
        const auto is = [&](std::string_view name) { return equals_ignoring_case(flag, name); };
        if (is("Alloc") || is("Contain") || is("X11")) {
            config.prolog_at_alloc = true;
        } else if (is("Serial")) {
            config.prolog_serial = true;
        } else if (!is("NoHold") && !is("none") && !is("DeferBatch") && !is("RunInJob") &&
                   !is("ForceRequeueOnFail")) {
            return fail(Errc::InvalidArgument, fmt::format("\"{}\" is no flag of a prolog", flag));
        }
    }
    return {};
}

constexpr std::string_view kOwnKey = "peers are known by the cluster key and by their sockets";
constexpr std::string_view kNoAccounting = "every job is kept in the controller's own store";
constexpr std::string_view kNoPriorities = "jobs are ordered by partition tier and submission";
constexpr std::string_view kNoTimeSlices = "jobs do not take turns on the same cores";
template <std::string Config::* Member>
Status set_log_level(Config& config, std::string_view value) {
    const auto level = parse_log_level(value);
    if (!level) {
        return fail(Errc::InvalidArgument,
                    fmt::format("\"{}\" is no level: quiet, error, info, verbose, debug, debug2 "
                                "and so on to debug5, or a number up to 9",
                                value));
    }
    config.*Member = std::string(log_level_name(*level));
    return {};
}

constexpr std::string_view kNoPower = "nodes are not switched on and off";
constexpr std::string_view kNoPlugins = "there are no plugins";
constexpr std::string_view kContainment = "containment and pinning are chosen by what a node has";
constexpr std::string_view kNoLimit = "the value is only shown";
constexpr std::string_view kAgentsDial = "agents dial the controller; they listen on no port";

// Sorted by what they are about, then by name.
constexpr auto kKeys = std::to_array<KeyRule<Config>>({
    // Where things are.
    {"ClusterName", set_cluster_name},
    {"SlurmctldHost", add_controller},
    {"ControlMachine", set_control_machine},
    {"ControlAddr", set_control_address},
    {"SlurmctldPort", set_port},
    {"SlurmUser", set_text<Config, &Config::slurm_user>},
    {"StateSaveLocation", set_text<Config, &Config::state_dir>},
    {"SlurmdSpoolDir", set_text<Config, &Config::spool_dir>},
    {"SwitchyardRunDir", set_text<Config, &Config::run_dir>},
    {"SwitchyardKeyFile", set_text<Config, &Config::key_file>},
    {"SwitchyardGpuSampleTime", set_seconds<Config, &Config::gpu_sample_time>},
    {"SwitchyardGpuIdleTime", set_seconds<Config, &Config::gpu_idle_time>},
    {"SwitchyardGpuIdlePercent", set_number<Config, &Config::gpu_idle_percent, 100>},
    {"SwitchyardGpuIdleAction", set_idle_action},
    {"SlurmctldLogFile", set_text<Config, &Config::controller_log>},
    {"SlurmdLogFile", set_text<Config, &Config::agent_log>},
    {"SlurmctldPidFile", set_text<Config, &Config::controller_pid_file>},
    {"SlurmdPidFile", set_text<Config, &Config::agent_pid_file>},
    {"TmpFS", set_text<Config, &Config::tmp_fs>},
    {"MailProg", set_text<Config, &Config::mail_prog>},
    {"MailDomain", set_text<Config, &Config::mail_domain>},
    // What jobs may have and how long things take.
    {"BatchStartTimeout", set_seconds<Config, &Config::batch_start_timeout>,
     "a start is repeated until the node answers"},
    {"CompleteWait", set_seconds<Config, &Config::complete_wait>, kNoLimit},
    {"DefMemPerCPU", set_memory_limit<Config, &Config::def_mem_per_cpu>},
    {"DefMemPerNode", set_memory_limit<Config, &Config::def_mem_per_node>},
    {"DependencyParameters", set_optional_text<Config, &Config::dependency_parameters>},
    {"DisableRootJobs", set_flag<Config, &Config::disable_root_jobs>},
    {"EnforcePartLimits", set_enforce_part_limits},
    {"FirstJobId", set_number<Config, &Config::first_job_id>},
    {"GresTypes", set_gres_types},
    {"InactiveLimit", set_seconds<Config, &Config::inactive_limit>, kNoLimit},
    {"JobRequeue", set_flag<Config, &Config::job_requeue>},
    {"KillWait", set_seconds<Config, &Config::kill_wait>},
    {"LaunchParameters", set_optional_text<Config, &Config::launch_parameters>, kNoLimit},
    {"MaxArraySize", set_number<Config, &Config::max_array_size, 4000001>},
    {"MaxJobCount", set_number<Config, &Config::max_job_count>},
    {"MaxMemPerCPU", set_memory_limit<Config, &Config::max_mem_per_cpu>},
    {"MaxMemPerNode", set_memory_limit<Config, &Config::max_mem_per_node>},
    {"MinJobAge", set_seconds<Config, &Config::min_job_age>},
    {"MpiDefault", set_text<Config, &Config::mpi_default>},
    {"MpiParams", set_optional_text<Config, &Config::mpi_params>},
    {"OverTimeLimit", set_minutes_or_unlimited<Config, &Config::over_time_limit>},
    {"ResvOverRun", set_minutes_or_unlimited<Config, &Config::resv_over_run>},
    {"Licenses", set_licenses},
    {"PropagateResourceLimits", set_text<Config, &Config::propagate_limits>},
    {"PropagateResourceLimitsExcept", set_text<Config, &Config::propagate_limits_except>},
    {"ReturnToService", set_number<Config, &Config::return_to_service, 2>},
    {"SchedulerParameters", set_optional_text<Config, &Config::scheduler_parameters>},
    {"SchedulerType", set_text<Config, &Config::scheduler_type>},
    {"SelectType", set_select_type},
    {"SelectTypeParameters", set_text<Config, &Config::select_type_parameters>},
    {"SlurmdTimeout", set_seconds<Config, &Config::slurmd_timeout>},
    {"TaskEpilog", set_optional_text<Config, &Config::task_epilog>},
    {"TaskProlog", set_optional_text<Config, &Config::task_prolog>},
    {"Prolog", add_program<&Config::prolog>},
    {"Epilog", add_program<&Config::epilog>},
    {"PrologFlags", set_prolog_flags},
    {"PrologEpilogTimeout", set_both_timeouts},
    {"PrologTimeout", set_timeout<&Config::prolog_timeout>},
    {"EpilogTimeout", set_timeout<&Config::epilog_timeout>},
    {"ProctrackType", set_optional_text<Config, &Config::proctrack_type>, kContainment},
    {"TaskPlugin", set_optional_text<Config, &Config::task_plugin>, kContainment},
    {"TopologyPlugin", set_optional_text<Config, &Config::topology_plugin>, "the topology is flat"},
    // What is kept of jobs that are over, and measured of those that run.
    {"AccountingStoreFlags", set_accounting_store_flags},
    {"JobAcctGatherFrequency", set_sample_frequency},
    {"PurgeJobAfter", set_purge_jobs_after},
    {"PurgeStepAfter", set_purge_steps_after},
    // Known to Slurm, without effect here.
    {"AccountingStorageBackupHost", nullptr, kNoAccounting},
    {"AccountingStorageEnforce", nullptr, "there are no associations and limits yet"},
    {"AccountingStorageExternalHost", nullptr, kNoAccounting},
    {"AccountingStorageHost", nullptr, kNoAccounting},
    {"AccountingStorageLoc", nullptr, kNoAccounting},
    {"AccountingStorageParameters", nullptr, kNoAccounting},
    {"AccountingStoragePass", nullptr, kNoAccounting},
    {"AccountingStoragePort", nullptr, kNoAccounting},
    {"AccountingStorageTRES", nullptr, kNoAccounting},
    {"AccountingStorageType", nullptr, kNoAccounting},
    {"AccountingStorageUser", nullptr, kNoAccounting},
    {"AccountingStoreJobComment", nullptr, kNoAccounting},
    {"AcctGatherEnergyType"},
    {"AcctGatherFilesystemType"},
    {"AcctGatherInfinibandType"},
    {"AcctGatherInterconnectType"},
    {"AcctGatherNodeFreq"},
    {"AcctGatherProfileType"},
    {"AllowSpecResourcesUsage"},
    {"AuthAltParameters", set_optional_text<Config, &Config::auth_alt_parameters>},
    {"AuthAltTypes", nullptr, kOwnKey},
    {"AuthInfo", nullptr, kOwnKey},
    {"AuthType", nullptr, kOwnKey},
    {"BackupAddr", nullptr, "there is one controller"},
    {"BackupController", nullptr, "there is one controller"},
    {"BcastExclude"},
    {"BcastParameters"},
    {"BurstBufferType"},
    {"CacheGroups"},
    {"CertgenParameters", nullptr, kOwnKey},
    {"CertgenType", nullptr, kOwnKey},
    {"CertmgrParameters", nullptr, kOwnKey},
    {"CertmgrType", nullptr, kOwnKey},
    {"CheckpointType"},
    {"CliFilterParameters", nullptr, kNoPlugins},
    {"CliFilterPlugins", nullptr, kNoPlugins},
    {"CommunicationParameters"},
    {"CoreSpecPlugin", nullptr, kNoPlugins},
    {"CpuFreqDef"},
    {"CpuFreqGovernors"},
    {"CredType", nullptr, kOwnKey},
    {"CryptoType", nullptr, kOwnKey},
    {"DataParserParameters"},
    {"DebugFlags", set_optional_text<Config, &Config::debug_flags>},
    {"DefaultStorageHost", nullptr, kNoAccounting},
    {"DefaultStorageLoc", nullptr, kNoAccounting},
    {"DefaultStoragePass", nullptr, kNoAccounting},
    {"DefaultStoragePort", nullptr, kNoAccounting},
    {"DefaultStorageType", nullptr, kNoAccounting},
    {"DefaultStorageUser", nullptr, kNoAccounting},
    {"EioTimeout"},
    {"EpilogMsgTime"},
    {"EpilogSlurmctld", add_program<&Config::epilog_controller>},
    {"ExtSensorsFreq"},
    {"ExtSensorsType"},
    {"FairShareDampeningFactor", nullptr, kNoPriorities},
    {"FastSchedule"},
    {"FederationParameters"},
    {"GetEnvTimeout"},
    {"GpuFreqDef"},
    {"GroupUpdateForce", nullptr, "groups are looked up when they are needed"},
    {"GroupUpdateTime", nullptr, "groups are looked up when they are needed"},
    {"HashPlugin", nullptr, kOwnKey},
    {"HealthCheckInterval"},
    {"HealthCheckNodeState"},
    {"HealthCheckProgram"},
    {"HealthCheckTimeout"},
    {"HttpParserType"},
    {"InteractiveStepOptions"},
    {"JobAcctGatherParams"},
    {"JobAcctGatherType", nullptr, "usage is read from /proc and cgroups, whatever it says"},
    {"JobCheckpointDir"},
    {"JobCompHost", nullptr, kNoAccounting},
    {"JobCompLoc", nullptr, kNoAccounting},
    {"JobCompParams", nullptr, kNoAccounting},
    {"JobCompPass", nullptr, kNoAccounting},
    {"JobCompPassScript", nullptr, kNoAccounting},
    {"JobCompPort", nullptr, kNoAccounting},
    {"JobCompType", nullptr, kNoAccounting},
    {"JobCompUser", nullptr, kNoAccounting},
    {"JobContainerType"},
    {"JobCredentialPrivateKey", nullptr, kOwnKey},
    {"JobCredentialPublicCertificate", nullptr, kOwnKey},
    {"JobDefaults"},
    {"JobFileAppend"},
    {"JobSubmitPlugins", nullptr, kNoPlugins},
    {"KeepAliveTime"},
    {"KillOnBadExit"},
    {"LaunchType"},
    {"LicenseParameters"},
    {"LogTimeFormat"},
    {"MaxBatchRequeue"},
    {"MaxDBDMsgs", nullptr, kNoAccounting},
    {"MaxJobId"},
    {"MaxNodeCount"},
    {"MaxStepCount"},
    {"MaxTasksPerNode"},
    {"MCSParameters"},
    {"MCSPlugin"},
    {"MemLimitEnforce"},
    {"MessageTimeout"},
    {"MetricsAuthUsers"},
    {"MetricsParameters"},
    {"MetricsType"},
    {"MinJobAgeAccounting", nullptr, kNoAccounting},
    {"NamespaceType"},
    {"NodeFeaturesPlugins", nullptr, kNoPlugins},
    {"PluginDir", nullptr, kNoPlugins},
    {"PlugStackConfig", nullptr, kNoPlugins},
    {"PowerParameters", nullptr, kNoPower},
    {"PowerPlugin", nullptr, kNoPower},
    {"PreemptExemptTime", set_preempt_exempt_time},
    {"PreemptMode", set_preempt_mode},
    {"PreemptParameters", set_preempt_parameters},
    {"PreemptType", set_preempt_type},
    {"PrEpParameters", nullptr, kNoPlugins},
    {"PrEpPlugins", nullptr, kNoPlugins},
    {"PriorityCalcPeriod", nullptr, kNoPriorities},
    {"PriorityDecayHalfLife", nullptr, kNoPriorities},
    {"PriorityFavorSmall", nullptr, kNoPriorities},
    {"PriorityFlags", nullptr, kNoPriorities},
    {"PriorityMaxAge", nullptr, kNoPriorities},
    {"PriorityParameters", nullptr, kNoPriorities},
    {"PrioritySiteFactorParameters", nullptr, kNoPriorities},
    {"PrioritySiteFactorPlugin", nullptr, kNoPriorities},
    {"PriorityType", nullptr, kNoPriorities},
    {"PriorityUsageResetPeriod", nullptr, kNoPriorities},
    {"PriorityWeightAge", nullptr, kNoPriorities},
    {"PriorityWeightAssoc", nullptr, kNoPriorities},
    {"PriorityWeightFairshare", nullptr, kNoPriorities},
    {"PriorityWeightJobSize", nullptr, kNoPriorities},
    {"PriorityWeightPartition", nullptr, kNoPriorities},
    {"PriorityWeightQOS", nullptr, kNoPriorities},
    {"PriorityWeightTRES", nullptr, kNoPriorities},
    {"PrivateData"},
    {"PrologSlurmctld", add_program<&Config::prolog_controller>},
    {"PropagatePrioProcess"},
    {"RebootProgram", set_optional_text<Config, &Config::reboot_program>},
    {"ReconfigFlags"},
    {"RequeueExit"},
    {"RequeueExitHold"},
    {"ResumeFailProgram", nullptr, kNoPower},
    {"ResumeProgram", nullptr, kNoPower},
    {"ResumeRate", nullptr, kNoPower},
    {"ResumeTimeout", set_seconds<Config, &Config::resume_timeout>},
    {"ResvEpilog"},
    {"ResvProlog"},
    {"RoutePlugin", nullptr, kNoPlugins},
    {"SbcastParameters"},
    {"SchedulerPort"},
    {"SchedulerRootFilter"},
    {"SchedulerTimeSlice", nullptr, kNoTimeSlices},
    {"ScronParameters"},
    {"SlurmctldAddr"},
    {"SlurmctldDebug", set_log_level<&Config::controller_debug>},
    {"SlurmctldHttpAuthParameters"},
    {"SlurmctldParameters"},
    {"SlurmctldPlugstack", nullptr, kNoPlugins},
    {"SlurmctldPrimaryOffProg", nullptr, "there is one controller"},
    {"SlurmctldPrimaryOnProg", nullptr, "there is one controller"},
    {"SlurmctldSyslogDebug"},
    {"SlurmctldTimeout", nullptr, "there is one controller"},
    {"SlurmdDebug", set_log_level<&Config::agent_debug>},
    {"SlurmdHttpAuthParameters"},
    {"SlurmdParameters"},
    {"SlurmdPort", nullptr, kAgentsDial},
    {"SlurmdSyslogDebug"},
    {"SlurmdUser", nullptr, "an agent runs as the user who started it"},
    {"SlurmSchedLogFile", set_optional_text<Config, &Config::sched_log_file>},
    {"SlurmSchedLogLevel", set_flag<Config, &Config::sched_log>},
    {"SrunEpilog"},
    {"SrunPortRange"},
    {"SrunProlog"},
    {"SuspendExcNodes", nullptr, kNoPower},
    {"SuspendExcParts", nullptr, kNoPower},
    {"SuspendExcStates", nullptr, kNoPower},
    {"SuspendProgram", nullptr, kNoPower},
    {"SuspendRate", nullptr, kNoPower},
    {"SuspendTime", nullptr, kNoPower},
    {"SuspendTimeout", nullptr, kNoPower},
    {"SwitchParameters", nullptr, kNoPlugins},
    {"SwitchType", nullptr, kNoPlugins},
    {"TaskPluginParam"},
    {"TCPTimeout"},
    {"TLSParameters", nullptr, kOwnKey},
    {"TLSType", nullptr, kOwnKey},
    {"TopologyParam"},
    {"TrackWCKey", nullptr, kNoAccounting},
    {"TreeWidth", nullptr, "the controller speaks to every agent directly"},
    {"UnkillableStepProgram", set_optional_text<Config, &Config::unkillable_program>},
    {"UnkillableStepTimeout", set_seconds<Config, &Config::unkillable_timeout>},
    {"UrlParserType"},
    {"UsePAM"},
    {"VSizeFactor"},
    {"WaitTime"},
    {"X11Parameters"},
});

}  // namespace

const KeyRule<Config>* find_key(std::string_view key) { return find_rule<Config>(kKeys, key); }

std::vector<KeyName> known_keys() {
    std::vector<KeyName> out;
    for (const KeyRule<Config>& rule : kKeys) out.push_back({rule.name, rule.has_effect()});
    std::ranges::sort(out, {}, &KeyName::name);
    return out;
}

}  // namespace switchyard::config
