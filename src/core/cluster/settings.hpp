// settings.hpp: the slice of the configuration that the core decides by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/sched/selection.hpp"
#include "model/licenses.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"

namespace switchyard::core {

struct Settings : sched::Selection {
    std::string cluster_name;
    std::vector<model::NodeConfig>
        nodes;  // In configuration order, which is the order of placement.
    std::vector<model::Partition> partitions;
    std::vector<std::string> gres_types;

    std::optional<model::MiB> def_mem_per_cpu, def_mem_per_node, max_mem_per_cpu, max_mem_per_node;

    Seconds kill_wait{30};
    Seconds min_job_age{300};   // How long a finished job stays in memory.
    Seconds node_timeout{300};  // SlurmdTimeout: silent for so long means down.
    Seconds owner_grace{
        60};  // How long an allocation outlives a lost connection to its salloc or srun.
    Seconds batch_start_timeout{10};
    Seconds complete_wait{0};
    std::uint32_t max_array_size = 1001;
    std::uint32_t max_job_count = 1000000;
    std::uint32_t first_job_id = 1;
    bool requeue_by_default = true;  // JobRequeue
    std::uint8_t return_to_service =
        1;  // 0: only resume; 1: if it was down for not responding; 2: always
    bool enforce_partition_limits = false;
    bool disable_root_jobs = false;
    std::optional<std::uint32_t> over_time_limit;  // Minutes.
    std::uint32_t operator_uid = 0;                // SlurmUser; root always is one.
    bool kill_invalid_dependency = false;
    bool prepare_nodes = false;  // PrologFlags=Alloc: nodes hear of a job when it starts.
    bool run_prolog = false, run_epilog = false;  // PrologSlurmctld, EpilogSlurmctld.
    bool hold_on_prolog_failure = true;  // nohold_on_prolog_fail of SchedulerParameters says no.
    // Ports that steps may reserve (MpiParams=ports=12000-12999); none: an empty range.
    std::uint16_t first_port = 0, last_port = 0;

    bool can_reboot = false;          // There is a RebootProgram.
    Seconds resume_timeout{60};       // A node that was told to reboot must be back by then.
    bool users_set_triggers = false;  // Programs can be run as whoever set them.

    // What becomes of a job whose cards stand idle; it is flagged in any case.
    enum class IdleGpus : std::uint8_t { Flag = 0, Mail = 1, Cancel = 2, Requeue = 3 };
    IdleGpus idle_gpus = IdleGpus::Flag;

    std::vector<model::License> licenses;  // Licenses=: how many there are of each.
    Minutes reservation_over_run{0};       // How long a job may outlast its reservation.

    // Jobs of partitions with a higher tier take room from those of lower ones.
    struct Preempt {
        bool by_tier = false;  // PreemptType=preempt/partition_prio
        model::PreemptMode mode = model::PreemptMode::Off;
        Seconds exempt{0};            // Nobody is ended for another before so long.
        bool youngest_first = false;  // The latest start decides before the priority.
        bool send_user_signal = false;
        std::optional<std::uint32_t> min_exempt_priority;  // Nobody from there on.
        Seconds suspend_grace{2};  // Between SIGTSTP and the freezing of a suspended job.
    };
    Preempt preempt;

    // Scheduling.
    bool backfill = true;
    Seconds backfill_interval{30};
    Seconds backfill_window{86400};
    std::uint32_t backfill_jobs_max = 500;  // Reservations planned in one pass.
};

}  // namespace switchyard::core
