#include "view/job/job_columns.hpp"

#include <fmt/format.h>

#include "model/dependency.hpp"
#include "model/hostlist.hpp"
#include "model/sluid.hpp"
#include "view/amount_text.hpp"
#include "view/job/cards_asked.hpp"
#include "view/job/job_facts.hpp"

namespace switchyard::view {
namespace {

using model::Job;
using model::JobSpec;
constexpr Overflow kCut = Overflow::Cut;
constexpr Overflow kNodes = Overflow::NodeList;
constexpr Overflow kDuration = Overflow::Duration;

const JobSpec& spec(const JobRow& row) { return *row.job.spec; }
std::string number(std::int64_t value) { return std::to_string(value); }
std::string nothing(const JobRow&) { return "(null)"; }
std::string not_available(const JobRow&) { return "N/A"; }
std::string or_not_available(std::string text) { return text.empty() ? "N/A" : text; }
std::string preempt_time(const JobRow& row) {
    const model::Running* run = model::run_of(row.job);
    if (run == nullptr || !run->preempted) return "N/A";
    return moment_text(run->preempted->at, row.view, "N/A");
}
std::string zero(const JobRow&) { return "0"; }
// Of a federation, where there is none.
std::string no_cluster(const JobRow&) { return "NA"; }

template <class Number>
std::string optional_number(const std::optional<Number>& value, std::string_view none) {
    return value ? std::to_string(*value) : std::string(none);
}

std::string job_id(const JobRow& row) { return number(row.job.id.value); }

std::string het_job_id(const JobRow& row) {
    return row.job.het ? number(row.job.het->leader.value) : "N/A";
}

std::string het_job_id_set(const JobRow& row) {
    return row.job.het ? component_ids(*row.job.het) : "N/A";
}

std::string het_job_offset(const JobRow& row) {
    return row.job.het ? number(row.job.het->offset) : "N/A";
}

std::string array_job_id(const JobRow& row) {
    return number(row.job.array ? row.job.array->array_id.value : row.job.id.value);
}

std::string array_task_id(const JobRow& row) {
    if (!row.job.array) return "N/A";
    if (row.element) return number(*row.element);
    if (row.job.array->element) return number(*row.job.array->element);
    return model::format_pending_elements(*row.job.array, row.view.elements_max);
}

std::string_view display_id(const JobRow& row, CellBuffer& room) {
    if (!row.job.array && !row.job.het) return room.number(row.job.id.value);
    if (!row.job.array) return room.keep(model::display_id(row.job));
    const std::string elements = array_task_id(row);
    const bool single = row.element || row.job.array->element;
    return room.keep(array_job_id(row) + (single ? "_" + elements : "_[" + elements + "]"));
}

std::string_view user_name(const JobRow& row, CellBuffer& room) {
    return spec(row).user.empty() ? room.number(spec(row).uid) : spec(row).user;
}
std::string group_name(const JobRow& row) {
    return spec(row).group.empty() ? number(spec(row).gid) : spec(row).group;
}

std::string_view partition(const JobRow& row, CellBuffer& room) {
    return row.partition != nullptr ? *row.partition : partition_text(row.job, room);
}

std::string limit_text(const JobRow& row) {
    const auto limit = time_limit(row.job);
    if (!limit) return "NOT_SET";
    return limit->unlimited ? "UNLIMITED" : duration_text(limit->seconds);
}

std::string time_left(const JobRow& row) {
    const auto limit = time_limit(row.job);
    if (!limit) return "NOT_SET";
    if (limit->unlimited) return "UNLIMITED";
    return duration_text(limit->seconds - time_used(row.job, row.view.now));
}

std::string start_time(const JobRow& row) {
    return moment_text(shown_start(row.job), row.view, "N/A");
}

std::string end_time(const JobRow& row) {
    const auto limit = time_limit(row.job);
    const bool is_over = model::outcome_of(row.job) != nullptr;
    if (!is_over && limit && limit->unlimited && shown_start(row.job)) return "NONE";
    return moment_text(shown_end(row.job), row.view, "N/A");
}

std::string pending_seconds(const JobRow& row) {
    const auto start = model::start_of(row.job);
    const Instant until = start && *start < row.view.now ? *start : row.view.now;
    return number(unix_seconds(until) - unix_seconds(row.job.submitted));
}

std::string_view reason_or_nodes(const JobRow& row, CellBuffer& room) {
    if (!shows_reason(row.job)) return room.keep(node_list(row.job));
    CellBuffer reason;
    return room.in_parentheses(reason_text(row.job, reason));
}

std::string_view run_time(const JobRow& row, CellBuffer& room) {
    const Seconds used = time_used(row.job, row.view.now);
    return used == Seconds{0} ? "0:00" : room.keep(duration_text(used));
}

std::string executing_host(const JobRow& row) {
    const bool batch = spec(row).kind == model::JobKind::Batch;
    const std::string host = batch ? batch_host(row.job) : spec(row).submit_host;
    return host.empty() ? "n/a" : host;
}

std::string planned_nodes(const JobRow& row) {
    const auto* pending = std::get_if<model::Pending>(&row.job.phase);
    if (pending == nullptr || pending->planned_nodes.empty()) return "(null)";
    return model::compress_hostlist(pending->planned_nodes);
}

std::string star_or(const std::optional<std::uint32_t>& value) {
    return optional_number(value, "*");
}
std::string sockets_cores_threads(const JobRow& row) {
    return star_or(spec(row).sockets_per_node) + ":" + star_or(spec(row).cores_per_socket) + ":" +
           star_or(spec(row).threads_per_core);
}

std::string cpus_per_task(const JobRow& row) { return number(spec(row).cpus_per_task.value_or(1)); }

std::string exit_code(const JobRow& row) {
    const model::Outcome* outcome = model::outcome_of(row.job);
    return model::to_string(outcome == nullptr ? model::ExitStatus{} : outcome->exit);
}

std::string derived_exit_code(const JobRow& row) {
    const model::Outcome* outcome = model::outcome_of(row.job);
    return model::to_string(outcome == nullptr ? model::ExitStatus{} : outcome->derived_exit);
}

std::string tres_alloc(const JobRow& row) {
    const std::string text = allocated_tres(row.job);
    return shown_tres(text.empty() ? requested_tres(row.job) : text);
}

BatchFiles files_of(const JobRow& row) {
    return row.view.expand_patterns ? batch_files(row.job) : batch_file_patterns(row.job);
}

std::string standard_error(const JobRow& row) {
    if (spec(row).kind != model::JobKind::Batch) return "N/A";
    return or_null(files_of(row).err);
}

std::string max_nodes(const JobRow& row) {
    return number(spec(row).nodes_max.value_or(node_count(row.job)));
}

const Field<JobRow> kFields[] = {
    {'a', "Account", "ACCOUNT", kCut, [](const JobRow& r) { return or_null(spec(r).account); }},
    {'b', "tres-per-node", "TRES_PER_NODE", kCut,
     [](const JobRow& r) { return tres_list(spec(r).gres_per_node); }},
    {'c', "MinCpus", "MIN_CPUS", kCut,
     [](const JobRow& r) { return number(cpus_per_node_min(r.job)); }},
    {'d', "MinTmpDisk", "MIN_TMP_DISK", kCut,
     [](const JobRow& r) { return memory_text(spec(r).tmp_disk, r.view); }},
    {'e', "EndTime", "END_TIME", kCut, end_time},
    {'f', "Feature", "FEATURES", kCut, [](const JobRow& r) { return or_null(spec(r).constraint); }},
    {'g', "GroupName", "GROUP", kCut, group_name},
    {'h', "OverSubscribe", "OVER_SUBSCRIBE", kCut,
     [](const JobRow& r) { return std::string(over_subscribe_text(spec(r))); }},
    {'i', "JobArrayID", "JOBID", kCut, display_id},
    {'j', "Name", "NAME", kCut,
     [](const JobRow& r, CellBuffer&) -> std::string_view { return spec(r).name; }},
    {'k', "Comment", "COMMENT", kCut, [](const JobRow& r) { return or_null(spec(r).comment); }},
    {'l', "TimeLimit", "TIME_LIMIT", kDuration, limit_text},
    {'m', "MinMemory", "MIN_MEMORY", kCut,
     [](const JobRow& r) { return memory_text(spec(r).memory.amount, r.view); }},
    {'n', "ReqNodes", "REQ_NODES", kNodes,
     [](const JobRow& r) { return model::compress_hostlist(spec(r).required_nodes); }},
    {'o', "Command", "COMMAND", kCut, [](const JobRow& r) { return or_null(spec(r).command); }},
    {'p', "Priority", "PRIORITY", kCut,
     [](const JobRow& r) {
         return fmt::format("{:16.14f}", shown_priority(r.job) / 4294967295.0);
     }},
    {'q', "QOS", "QOS", kCut, [](const JobRow& r) { return or_null(spec(r).qos); }},
    {'r', "Reason", "REASON", kCut, [](const JobRow& r) { return reason_text(r.job); }},
    {'s', "SLUID", "SLUID", kCut,
     [](const JobRow& r) { return model::sluid_of(r.job, r.view.cluster); }},
    {'t', "StateCompact", "ST", kCut,
     [](const JobRow& r, CellBuffer&) { return model::short_name(model::state_of(r.job)); }},
    {'u', "UserName", "USER", kCut, user_name},
    {'v', "Reservation", "RESERVATION", kCut,
     [](const JobRow& r) { return or_null(reservation_of(r.job)); }},
    {'w', "WCKey", "WCKEY", kCut, [](const JobRow& r) { return or_null(spec(r).wckey); }},
    {'x', "ExcNodes", "EXC_NODES", kNodes,
     [](const JobRow& r) { return model::compress_hostlist(spec(r).excluded_nodes); }},
    {'y', "Nice", "NICE", kCut, [](const JobRow& r) { return number(spec(r).nice); }},
    {'z', "SCT", "S:C:T", kCut, sockets_cores_threads},
    {'A', "JobID", "JOBID", kCut, job_id},
    {'B', "BatchHost", "EXEC_HOST", kCut, executing_host},
    {'C', "NumCPUs", "CPUS", kCut, [](const JobRow& r) { return number(cpu_count(r.job)); }},
    {'D', "NumNodes", "NODES", kCut,
     [](const JobRow& r, CellBuffer& room) { return room.number(node_count(r.job)); }},
    {'E', "Dependency", "DEPENDENCY", kCut,
     [](const JobRow& r) { return or_null(model::to_string(spec(r).dependency)); }},
    {'F', "ArrayJobID", "ARRAY_JOB_ID", kCut, array_job_id},
    {'G', "GroupID", "GROUP", kCut, [](const JobRow& r) { return number(spec(r).gid); }},
    {'H', "Sockets", "SOCKETS_PER_NODE", kCut,
     [](const JobRow& r) { return star_or(spec(r).sockets_per_node); }},
    {'I', "Cores", "CORES_PER_SOCKET", kCut,
     [](const JobRow& r) { return star_or(spec(r).cores_per_socket); }},
    {'J', "Threads", "THREADS_PER_CORE", kCut,
     [](const JobRow& r) { return star_or(spec(r).threads_per_core); }},
    {'K', "ArrayTaskID", "ARRAY_TASK_ID", kCut, array_task_id},
    {'L', "TimeLeft", "TIME_LEFT", kDuration, time_left},
    {'M', "TimeUsed", "TIME", kDuration, run_time},
    {'N', "NodeList", "NODELIST", kNodes, [](const JobRow& r) { return node_list(r.job); }},
    {'O', "Contiguous", "CONTIGUOUS", kCut,
     [](const JobRow& r) { return number(spec(r).contiguous); }},
    {'P', "Partition", "PARTITION", kCut, partition},
    {'Q', "PriorityLong", "PRIORITY", kCut,
     [](const JobRow& r) { return number(shown_priority(r.job)); }},
    {'R', "ReasonList", "NODELIST(REASON)", kNodes, reason_or_nodes},
    {'S', "StartTime", "START_TIME", kCut, start_time},
    {'T', "State", "STATE", kCut,
     [](const JobRow& r, CellBuffer&) { return model::long_name(model::state_of(r.job)); }},
    {'U', "UserID", "UID", kCut, [](const JobRow& r) { return number(spec(r).uid); }},
    {'V', "SubmitTime", "SUBMIT_TIME", kCut,
     [](const JobRow& r) { return moment_text(r.job.submitted, r.view, "N/A"); }},
    {'W', "Licenses", "LICENSES", kCut, [](const JobRow& r) { return or_null(spec(r).licenses); }},
    {'X', "CoreSpec", "CORE_SPEC", kCut,
     [](const JobRow& r) { return optional_number(spec(r).core_spec, "N/A"); }},
    {'Y', "SchedNodes", "SCHEDNODES", kNodes, planned_nodes},
    {'Z', "WorkDir", "WORK_DIR", kCut, [](const JobRow& r) { return or_null(spec(r).work_dir); }},
    // Without a letter, or kept for old formats.
    {0, "gres", "TRES_PER_NODE", kCut,
     [](const JobRow& r) { return tres_list(spec(r).gres_per_node); }},
    {0, "AccrueTime", "ACCRUE_TIME", kCut,
     [](const JobRow& r) { return moment_text(accrue_time(r.job), r.view, "N/A"); }},
    {0, "admin_comment", "ADMIN_COMMENT", kCut,
     [](const JobRow& r) { return or_null(r.job.admin_comment); }},
    {0, "system_comment", "SYSTEM_COMMENT", kCut,
     [](const JobRow& r) { return or_null(r.job.system_comment); }},
    {0, "AllocNodes", "ALLOC_NODES", kCut,
     [](const JobRow& r) { return or_null(spec(r).submit_host); }},
    {0, "AllocSID", "ALLOC_SID", kCut, [](const JobRow& r) { return number(spec(r).alloc_sid); }},
    {0, "AssocID", "ASSOC_ID", kCut, zero},
    {0, "BatchFlag", "BATCH_FLAG", kCut,
     [](const JobRow& r) { return number(spec(r).kind == model::JobKind::Batch); }},
    {0, "BoardsPerNode", "BOARDS_PER_NODE", kCut, zero},
    {0, "BurstBuffer", "BURST_BUFFER", kCut, nothing},
    {0, "BurstBufferState", "BURST_BUFFER_STATE", kCut, nothing},
    {0, "Cluster", "CLUSTER", kCut, [](const JobRow& r) { return or_null(r.view.cluster); }},
    {0, "ClusterFeature", "CLUSTER_FEATURES", kCut, nothing},
    {0, "Container", "CONTAINER", kCut, nothing},
    {0, "ContainerID", "CONTAINERID", kCut, nothing},
    {0, "ContainerType", "CONTAINERTYPE", kCut, nothing},
    {0, "cpus-per-task", "CPUS_PER_TASK", kCut, cpus_per_task},
    {0, "CPUsPerTask", "CPUS_PER_TASK", kCut, cpus_per_task},
    {0, "cpus-per-tres", "CPUS_PER_TRES", kCut,
     [](const JobRow& r) {
         return spec(r).cpus_per_gpu ? "gres/gpu:" + number(*spec(r).cpus_per_gpu)
                                     : std::string("N/A");
     }},
    {0, "mem-per-tres", "MEM_PER_TRES", kCut,
     [](const JobRow& r) {
         const model::MemoryRequest& memory = spec(r).memory;
         if (memory.per != model::MemoryRequest::Per::Gpu) return std::string("N/A");
         return fmt::format("gres/gpu:{}", memory.amount.value);
     }},
    {0, "CronJob", "CRON_JOB", kCut,
     [](const JobRow& r) { return std::string(spec(r).cron.empty() ? "No" : "Yes"); }},
    {0, "Deadline", "DEADLINE", kCut,
     [](const JobRow& r) { return moment_text(spec(r).deadline, r.view, "N/A"); }},
    {0, "DelayBoot", "DELAY_BOOT", kCut, [](const JobRow&) { return std::string("0:00"); }},
    {0, "DerivedEC", "DERIVED_EC", kCut, derived_exit_code},
    {0, "EligibleTime", "ELIGIBLE_TIME", kCut,
     [](const JobRow& r) { return moment_text(eligible_time(r.job), r.view, "N/A"); }},
    {0, "exit_code", "EXIT_CODE", kCut, exit_code},
    {0, "Exclusive", "EXCLUSIVE", kCut,
     [](const JobRow& r) { return std::string(exclusive_text(spec(r).exclusive)); }},
    {0, "HetJobID", "HET_JOB_ID", kCut, het_job_id},
    {0, "HetJobIDSet", "HET_JOB_ID_SET", kCut, het_job_id_set},
    {0, "HetJobOffset", "HET_JOB_OFFSET", kCut, het_job_offset},
    {0, "LastSchedEval", "LAST_SCHED_EVAL", kCut,
     [](const JobRow& r) { return moment_text(last_evaluated(r.job), r.view, "N/A"); }},
    {0, "LicensesAlloc", "LICENSES_ALLOC", kCut,
     [](const JobRow& r) { return or_null(licenses_held(r.job)); }},
    {0, "MaxCPUs", "MAX_CPUS", kCut, [](const JobRow& r) { return number(cpu_count(r.job)); }},
    {0, "MaxNodes", "MAX_NODES", kCut, max_nodes},
    {0, "MCSLabel", "MCSLABEL", kCut, [](const JobRow& r) { return or_null(spec(r).mcs_label); }},
    {0, "MinTime", "TIME_MIN", kDuration,
     [](const JobRow& r) {
         return duration_text(spec(r).time_min ? spec(r).time_min->seconds : Seconds{0});
     }},
    {0, "Network", "NETWORK", kCut, [](const JobRow& r) { return or_null(spec(r).network); }},
    {0, "NTPerBoard", "NTASKS_PER_BOARD", kCut, zero},
    {0, "NTPerCore", "NTASKS_PER_CORE", kCut,
     [](const JobRow& r) { return optional_number(spec(r).tasks_per_core, "N/A"); }},
    {0, "NTPerNode", "NTASKS_PER_NODE", kCut,
     [](const JobRow& r) { return number(spec(r).tasks_per_node.value_or(0)); }},
    {0, "NTPerSocket", "NTASKS_PER_SOCKET", kCut,
     [](const JobRow& r) { return optional_number(spec(r).tasks_per_socket, "N/A"); }},
    {0, "NumTasks", "TASKS", kCut, [](const JobRow& r) { return number(task_count(r.job)); }},
    {0, "Origin", "ORIGIN", kCut, no_cluster},
    {0, "OriginRaw", "ORIGIN_RAW", kCut, no_cluster},
    {0, "PendingTime", "PENDING_TIME", kCut, pending_seconds},
    {0, "PreemptTime", "PREEMPT_TIME", kCut, preempt_time},
    {0, "Prefer", "PREFER", kCut, [](const JobRow& r) { return or_null(spec(r).prefer); }},
    {0, "Profile", "PROFILE", kCut, [](const JobRow&) { return std::string("NotSet"); }},
    {0, "Reboot", "REBOOT", kCut, zero},
    {0, "ReqSwitch", "REQ_SWITCH", kCut, zero},
    {0, "Requeue", "REQUEUE", kCut,
     [](const JobRow& r) { return number(spec(r).requeue.value_or(true)); }},
    {0, "ResizeTime", "RESIZE_TIME", kCut, not_available},
    {0, "RestartCnt", "RESTART_COUNT", kCut,
     [](const JobRow& r) { return number(r.job.restarts); }},
    {0, "SegmentSize", "SEGMENT_SIZE", kCut, not_available},
    {0, "SiblingsActive", "ACTIVE_SIBLINGS", kCut, no_cluster},
    {0, "SiblingsActiveRaw", "ACTIVE_SIBLINGS_RAW", kCut, no_cluster},
    {0, "SiblingsViable", "VIABLE_SIBLINGS", kCut, no_cluster},
    {0, "SiblingsViableRaw", "VIALBLE_SIBLINGS_RAW", kCut, no_cluster},
    {0, "SPerBoard", "SOCKETS_PER_BOARD", kCut, zero},
    {0, "STDERR", "STDERR", kCut, standard_error},
    {0, "STDIN", "STDIN", kCut, [](const JobRow& r) { return files_of(r).in; }},
    {0, "STDOUT", "STDOUT", kCut, [](const JobRow& r) { return files_of(r).out; }},
    {0, "tres-alloc", "TRES_ALLOC", kCut, tres_alloc},
    {0, "tres-bind", "TRES_BIND", kCut,
     [](const JobRow& r) { return or_not_available(tres_bind(spec(r))); }},
    {0, "tres-freq", "TRES_FREQ", kCut,
     [](const JobRow& r) { return spec(r).gpu_freq.empty() ? "N/A" : "gpu:" + spec(r).gpu_freq; }},
    {0, "tres-per-job", "TRES_PER_JOB", kCut,
     [](const JobRow& r) { return tres_list(spec(r).gpus_per_job); }},
    {0, "tres-per-socket", "TRES_PER_SOCKET", kCut,
     [](const JobRow& r) { return tres_list(spec(r).gpus_per_socket); }},
    {0, "tres-per-task", "TRES_PER_TASK", kCut,
     [](const JobRow& r) { return or_not_available(tres_per_task(spec(r))); }},
    {0, "Wait4Switch", "WAIT4SWITCH", kCut, [](const JobRow&) { return std::string("0:00"); }},
};

constexpr std::string_view kNames[] = {
    "Account",
    "AccrueTime",
    "admin_comment",
    "AllocNodes",
    "AllocSID",
    "ArrayJobId",
    "ArrayTaskId",
    "AssocId",
    "BatchFlag",
    "BatchHost",
    "BoardsPerNode",
    "BurstBuffer",
    "BurstBufferState",
    "Cluster",
    "ClusterFeature",
    "Command",
    "Comment",
    "Container",
    "ContainerId",
    "ContainerType",
    "Contiguous",
    "Cores",
    "CoreSpec",
    "CPUsPerTask",
    "cpus-per-task",
    "cpus-per-tres",
    "CronJob",
    "Deadline",
    "DelayBoot",
    "Dependency",
    "DerivedEC",
    "EligibleTime",
    "EndTime",
    "ExcNodes",
    "Exclusive",
    "exit_code",
    "Feature",
    "GroupId",
    "GroupName",
    "HetJobId",
    "HetJobIdSet",
    "HetJobOffset",
    "JobArrayId",
    "JobId",
    "LastSchedEval",
    "Licenses",
    "LicensesAlloc",
    "MaxCPUs",
    "MaxNodes",
    "mem-per-tres",
    "MCSLabel",
    "MinCPUs",
    "MinMemory",
    "MinTime",
    "MinTmpDisk",
    "Name",
    "Network",
    "Nice",
    "NodeList",
    "NTPerCore",
    "NTPerNode",
    "NTPerSocket",
    "NTPerBoard",
    "NumCPUs",
    "NumNodes",
    "NumTasks",
    "Origin",
    "OriginRaw",
    "OverSubscribe",
    "Partition",
    "PendingTime",
    "PreemptTime",
    "Prefer",
    "Priority",
    "PriorityLong",
    "Profile",
    "QOS",
    "Reason",
    "ReasonList",
    "Reboot",
    "ReqNodes",
    "ReqSwitch",
    "Requeue",
    "Reservation",
    "ResizeTime",
    "RestartCnt",
    "SchedNodes",
    "SCT",
    "SegmentSize",
    "SiblingsActive",
    "SiblingsActiveRaw",
    "SiblingsViable",
    "SiblingsViableRaw",
    "SLUID",
    "Sockets",
    "SPerBoard",
    "StartTime",
    "State",
    "StateCompact",
    "StdErr",
    "StdIn",
    "StdOut",
    "SubmitTime",
    "system_comment",
    "Threads",
    "TimeLeft",
    "TimeLimit",
    "TimeUsed",
    "tres-alloc",
    "tres-bind",
    "tres-freq",
    "tres-per-job",
    "tres-per-socket",
    "tres-per-task",
    "UserId",
    "UserName",
    "Wait4Switch",
    "WCKey",
    "WorkDir",
};

}  // namespace

std::span<const Field<JobRow>> job_fields() { return kFields; }
std::span<const std::string_view> job_field_names() { return kNames; }

std::vector<Column> all_columns(std::span<const Field<JobRow>> fields) {
    std::vector<Column> columns;
    for (const Field<JobRow>& field : fields) {
        if (field.letter == 0) continue;
        Column column;
        column.field = field.letter;
        column.suffix = "|";
        columns.push_back(std::move(column));
    }
    if (!columns.empty()) columns.back().suffix.clear();
    return columns;
}

std::string duration_text(Seconds duration) {
    constexpr Seconds kLongest = std::chrono::days{365};
    if (duration < Seconds{0} || duration > kLongest) return "INVALID";
    return model::format_duration_short(duration);
}

std::string moment_text(const std::optional<Instant>& moment, const ViewContext& view,
                        std::string_view none) {
    if (!moment || *moment == Instant{}) return std::string(none);
    return model::format_instant(*moment, view.time_format);
}

std::string tres_list(const std::vector<model::GresRequest>& requests) {
    const std::string text = model::to_tres_string(requests);
    return text.empty() ? "N/A" : text;
}

std::string or_null(const std::string& text) { return text.empty() ? "(null)" : text; }

std::string memory_text(model::MiB amount, const ViewContext& view) {
    if (amount.value == 0) return "0";
    return view.convert_units ? short_amount(amount.value, "MGTP")
                              : fmt::format("{}M", amount.value);
}

}  // namespace switchyard::view
