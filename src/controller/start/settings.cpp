#include "controller/start/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.hpp"
#include "controller/names/names.hpp"

namespace switchyard::controller {
namespace {

// "CR_Core_Memory", with flags such as CR_LLN behind a comma, which choose no unit.
void apply_select(const config::Config& config, core::Settings& settings) {
    using Unit = core::Settings::Unit;
    const bool linear = equals_ignoring_case(config.select_type, "select/linear");
    if (linear) settings.memory_is_consumable = false;
    for (const std::string_view piece : split(config.select_type_parameters, ',')) {
        std::string word = to_lower(trim(piece));
        const bool memory = word.ends_with("_memory");
        if (memory) word.resize(word.size() - std::string_view("_memory").size());
        if (word == "cr_core")
            settings.unit = Unit::Core;
        else if (word == "cr_cpu")
            settings.unit = Unit::Cpu;
        else if (word == "cr_socket")
            settings.unit = Unit::Socket;
        else if (word != "cr")
            continue;
        settings.memory_is_consumable = memory;
    }
    if (linear) settings.unit = Unit::WholeNode;
}

Status apply_scheduling(const config::Config& config, core::Settings& settings) {
    settings.backfill = !equals_ignoring_case(config.scheduler_type, "sched/builtin");
    for (const std::string_view piece : split(config.scheduler_parameters, ',')) {
        const std::string_view word = trim(piece);
        const std::size_t equals = word.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view key = word.substr(0, equals);
        const auto number = parse_uint(word.substr(equals + 1));
        const bool ours = key == "bf_interval" || key == "bf_window" || key == "bf_max_job_test";
        if (!ours) continue;
        if (!number || *number == 0 || *number > 10'000'000) {
            return fail(Errc::InvalidArgument,
                        fmt::format("SchedulerParameters: {} is not valid", word));
        }
        const auto value = static_cast<std::int64_t>(*number);
        if (key == "bf_interval") settings.backfill_interval = Seconds{value};
        if (key == "bf_window") settings.backfill_window = Minutes{value};
        if (key == "bf_max_job_test")
            settings.backfill_jobs_max = static_cast<std::uint32_t>(value);
    }
    return {};
}

// "ports=12000-12999" among the words of MpiParams.
Status apply_ports(const config::Config& config, core::Settings& settings) {
    for (const std::string_view piece : split(config.mpi_params, ',')) {
        const std::string_view word = trim(piece);
        if (!starts_with_ignoring_case(word, "ports=")) continue;
        const std::string_view range = word.substr(6);
        const std::size_t dash = range.find('-');
        const auto first = parse_uint(range.substr(0, dash));
        const auto last =
            dash == std::string_view::npos ? first : parse_uint(range.substr(dash + 1));
        if (!first || !last || *first == 0 || *first > *last || *last > 0xffff)
            return fail(Errc::InvalidArgument, fmt::format("MpiParams: {} is not valid", word));
        settings.first_port = static_cast<std::uint16_t>(*first);
        settings.last_port = static_cast<std::uint16_t>(*last);
    }
    return {};
}

// PreemptParameters; SchedulerParameters once had some of them as preempt_*.
void apply_preemption(const config::Config& config, core::Settings& settings) {
    core::Settings::Preempt& preempt = settings.preempt;
    preempt.by_tier = config.preempt_type == "preempt/partition_prio";
    preempt.mode = config.preempt_mode.mode;
    preempt.exempt = config.preempt_exempt_time;
    const auto read = [&](std::string_view word) {
        constexpr std::string_view kPriority = "min_exempt_priority=";
        if (equals_ignoring_case(word, "youngest_first")) preempt.youngest_first = true;
        if (equals_ignoring_case(word, "send_user_signal")) preempt.send_user_signal = true;
        constexpr std::string_view kGrace = "suspend_grace_time=";
        if (starts_with_ignoring_case(word, kGrace)) {
            if (const auto seconds = parse_uint(word.substr(kGrace.size())))
                preempt.suspend_grace = Seconds{static_cast<std::int64_t>(*seconds)};
        }
        if (!starts_with_ignoring_case(word, kPriority)) return;
        if (const auto number = parse_uint(word.substr(kPriority.size())))
            preempt.min_exempt_priority = static_cast<std::uint32_t>(*number);
    };
    for (const std::string_view piece : split(config.preempt_parameters, ',')) read(trim(piece));
    for (const std::string_view piece : split(config.scheduler_parameters, ',')) {
        const std::string_view word = trim(piece);
        if (starts_with_ignoring_case(word, "preempt_")) read(word.substr(8));
    }
}

bool has_word(std::string_view list, std::string_view word) {
    for (const std::string_view piece : split(list, ',')) {
        if (equals_ignoring_case(trim(piece), word)) return true;
    }
    return false;
}

}  // namespace

Result<std::uint32_t> find_slurm_user(const config::Config& config) {
    const NameAnswer user = ask_name_service(NameKey::user_named(config.slurm_user));
    if (user.found) return user.uid;
    return fail(Errc::InvalidArgument,
                fmt::format("SlurmUser={} is not a user of this host", config.slurm_user));
}

Result<core::Settings> to_settings(const config::Config& config, std::uint32_t slurm_user) {
    core::Settings settings;
    settings.cluster_name = config.cluster_name;
    settings.nodes = config.nodes;
    settings.partitions = config.partitions;
    settings.gres_types = config.gres_types;
    apply_select(config, settings);
    settings.def_mem_per_cpu = config.def_mem_per_cpu;
    settings.def_mem_per_node = config.def_mem_per_node;
    settings.max_mem_per_cpu = config.max_mem_per_cpu;
    settings.max_mem_per_node = config.max_mem_per_node;
    settings.kill_wait = config.kill_wait;
    settings.min_job_age = config.min_job_age;
    settings.node_timeout = config.slurmd_timeout;
    settings.batch_start_timeout = config.batch_start_timeout;
    settings.complete_wait = config.complete_wait;
    settings.max_array_size = config.max_array_size;
    settings.max_job_count = config.max_job_count;
    settings.first_job_id = config.first_job_id;
    settings.requeue_by_default = config.job_requeue;
    settings.return_to_service = config.return_to_service;
    settings.enforce_partition_limits = config.enforce_part_limits;
    settings.disable_root_jobs = config.disable_root_jobs;
    settings.over_time_limit = config.over_time_limit;
    settings.licenses = config.licenses;
    settings.reservation_over_run = Minutes{config.resv_over_run.value_or(0)};
    settings.kill_invalid_dependency =
        has_word(config.dependency_parameters, "kill_invalid_depend");
    settings.prepare_nodes = config.prolog_at_alloc && !config.prolog.empty();
    settings.run_prolog = !config.prolog_controller.empty();
    settings.run_epilog = !config.epilog_controller.empty();
    settings.can_reboot = !config.reboot_program.empty();
    settings.resume_timeout = config.resume_timeout;
    settings.users_set_triggers = ::geteuid() == 0;
    settings.hold_on_prolog_failure =
        !has_word(config.scheduler_parameters, "nohold_on_prolog_fail");
    using IdleGpus = core::Settings::IdleGpus;
    settings.idle_gpus = config.gpu_idle_action == "mail"      ? IdleGpus::Mail
                         : config.gpu_idle_action == "cancel"  ? IdleGpus::Cancel
                         : config.gpu_idle_action == "requeue" ? IdleGpus::Requeue
                                                               : IdleGpus::Flag;
    apply_preemption(config, settings);
    SY_CHECK(apply_scheduling(config, settings));
    SY_CHECK(apply_ports(config, settings));

    // Without root the cluster serves the one user who started it, and that user runs it.
    settings.operator_uid = ::geteuid() != 0 ? ::geteuid() : slurm_user;
    return settings;
}

}  // namespace switchyard::controller
