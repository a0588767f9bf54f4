// config.hpp: slurm.conf and gres.conf as one typed value. Read once; nobody parses configuration
// elsewhere.
//
// Keys that are not supported are collected in `notices` with file:line and do no harm; errors (a
// malformed line, an unknown node in a partition) refuse the whole file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "model/licenses.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"

namespace switchyard::config {

struct ControllerHost {
    std::string host;     // SlurmctldHost=host(address)
    std::string address;  // Empty: the host.
};

struct Config {
    std::string path;  // The file it came from; SLURM_CONF of jobs.
    std::string cluster_name = "cluster";
    std::vector<ControllerHost> controllers;
    std::uint16_t controller_port = 6817;
    std::string slurm_user = "root";

    std::string
        state_dir;  // StateSaveLocation: database, key. Default /var/lib/switchyard/<cluster>.
    std::string spool_dir;  // SlurmdSpoolDir, with %n and %h expanded by spool_for(). Default
                            // <state_dir>/spool/%n.
    std::string run_dir;    // SwitchyardRunDir: sockets. Default /run/switchyard/<cluster> if the
                            // file is root's, else <state_dir>/run.
    std::string key_file;   // SwitchyardKeyFile: the cluster key. Default <state_dir>/cluster.key.
    std::string controller_log;  // SlurmctldLogFile; empty: standard error.
    std::string agent_log;       // SlurmdLogFile
    std::string controller_pid_file,
        agent_pid_file;  // Default <run_dir>/slurmctld.pid, <run_dir>/slurmd-%n.pid.
    std::string mail_prog = "/bin/mail";
    std::string mail_domain;

    std::vector<model::NodeConfig> nodes;  // In the order of the file, names expanded.
    std::vector<model::Partition> partitions;
    std::vector<std::string> gres_types;
    // AutoDetect= of gres.conf by node ("nvml", "off"); "" is for all nodes.
    std::map<std::string, std::string> auto_detect;

    // Values as given; the controller turns them into core::Settings.
    std::string select_type = "select/cons_tres", select_type_parameters = "CR_Core_Memory";
    std::optional<model::MiB> def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;
    Seconds kill_wait{30}, min_job_age{300}, slurmd_timeout{300}, batch_start_timeout{10},
        complete_wait{0};
    Seconds inactive_limit{0};
    // What a step's processes may take to go once they are killed, and what is run if they do not.
    Seconds unkillable_timeout{60};
    std::string unkillable_program;
    std::uint32_t max_array_size = 1001, max_job_count = 1000000, first_job_id = 1;
    bool job_requeue = true;
    std::uint8_t return_to_service = 1;
    bool enforce_part_limits = false, disable_root_jobs = false;
    std::optional<std::uint32_t> over_time_limit;
    std::optional<std::uint32_t> resv_over_run;  // Minutes.
    std::vector<model::License> licenses;
    std::string scheduler_type = "sched/backfill", scheduler_parameters, dependency_parameters;
    // Preempt*; what PreemptParameters says is kept as it is written.
    std::string preempt_type = "preempt/none", preempt_parameters;
    model::PreemptWords preempt_mode;
    Seconds preempt_exempt_time{0};
    std::string task_plugin, proctrack_type;
    Seconds sample_period{30};  // JobAcctGatherFrequency, of tasks; 0: only at the end of a step.
    std::string job_acct_gather_frequency = "30";
    // PurgeJobAfter, PurgeStepAfter: how long what has ended is kept; none: for ever.
    std::optional<Seconds> purge_jobs_after, purge_steps_after;
    bool keep_scripts = false, keep_environments = false;  // AccountingStoreFlags
    std::string accounting_store_flags;
    bool constrain_cores = true, constrain_memory = true, constrain_devices = true;  // cgroup.conf
    std::string cgroup_plugin = "autodetect";
    std::string task_prolog, task_epilog;
    std::string mpi_params;  // "ports=12000-12999": for srun --resv-ports.
    // Programs of the site around each job on a node; glob patterns, absolute.
    std::vector<std::string> prolog, epilog;
    std::vector<std::string> prolog_controller, epilog_controller;  // PrologSlurmctld, ...
    std::string prolog_flags;
    bool prolog_at_alloc = false, prolog_serial = false;  // PrologFlags=Alloc, Serial
    Seconds prolog_timeout{0}, epilog_timeout{0};         // 0: as long as they take.
    std::string propagate_limits = "ALL", propagate_limits_except;
    std::string tmp_fs = "/tmp";
    // SwitchyardGpu*: how often cards are looked at (0: never), and what becomes of a job whose
    // cards were busy less than so much of that long (0: nothing).
    Seconds gpu_sample_time{10}, gpu_idle_time{0};
    std::uint32_t gpu_idle_percent = 5;
    std::string gpu_idle_action = "none";  // "mail", "cancel", "requeue"
    std::string reboot_program;            // Run by a node's agent when the node is to reboot.
    Seconds resume_timeout{60};            // By then it must be back.
    std::string auth_alt_parameters;       // "jwt_key=/path": of tokens.
    // What the daemons log: levels as words ("info"), topics by name, decisions of the scheduler.
    std::string controller_debug = "info", agent_debug = "info";
    std::string debug_flags;
    bool sched_log = false;
    std::string sched_log_file;
    std::string launch_parameters, mpi_default = "none", topology_plugin;

    struct Notice {
        std::string where;  // "/etc/slurm/slurm.conf:12"
        std::string text;
    };
    std::vector<Notice> notices;
    // The files that say all this, those too that are not there.
    std::vector<std::string> files;
    // All keys as read, for scontrol show config.
    std::vector<std::pair<std::string, std::string>> raw;

    std::string controller_socket() const { return run_dir + "/controller.sock"; }
    // Where agents of the controller's own host connect (mode 0600: root or the controller's user).
    std::string controller_agent_socket() const { return run_dir + "/controller-agents.sock"; }
    std::string agent_socket(const std::string& node) const {
        return run_dir + "/agent-" + node + ".sock";
    }
    std::string spool_for(const std::string& node) const;
    // %n and %h of SlurmdSpoolDir, SlurmdLogFile and SlurmdPidFile as the node's name and host.
    std::string expand(std::string_view pattern, const std::string& node) const;
};

// SLURM_CONF; else /etc/switchyard/slurm.conf, /etc/slurm/slurm.conf; else the cluster that
// `switchyard up` started for this user (~/.switchyard/slurm.conf) or for all
// (/var/lib/switchyard/slurm.conf). NotFound says what was looked for and that `switchyard up`
// makes one.
Result<std::string> find_config_file();

// Reads the file, its Includes, and gres.conf and cgroup.conf beside it.
Result<Config> load_config(const std::string& path);

// Differs when one of its files has changed since it was read.
std::string change_mark(const Config& config);

// The few keys a command needs to reach the controller (cluster_name, controllers, port, run_dir,
// state_dir, key_file), without building node and partition lists: commands start in a millisecond.
Result<Config> load_client_config(const std::string& path);

}  // namespace switchyard::config
