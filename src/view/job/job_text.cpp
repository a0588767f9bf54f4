#include "view/job/job_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/dependency.hpp"
#include "model/hostlist.hpp"
#include "model/mail.hpp"
#include "model/sluid.hpp"
#include "view/amount_text.hpp"
#include "view/job/cards_asked.hpp"
#include "view/job/job_columns.hpp"
#include "view/job/job_facts.hpp"
#include "view/step/step_columns.hpp"

namespace switchyard::view {
namespace {

using model::Job;
using model::JobSpec;

class JobText {
  public:
    JobText(const Job& job, const RecordStyle& style)
        : job_(job), spec_(*job.spec), style_(style), record_(style) {}

    std::string text() {
        add_identity();
        add_state();
        add_times();
        add_place();
        add_size();
        if (style_.details) add_grants();
        add_demands();
        add_files();
        add_optional_lines();
        return record_.take();
    }

  private:
    void add_identity();
    void add_state();
    void add_times();
    void add_place();
    void add_size();
    void add_grants();
    void add_demands();
    void add_files();
    void add_optional_lines();

    std::string moment(const std::optional<Instant>& when, std::string_view none) const {
        if (!when || *when == Instant{}) return std::string(none);
        return model::format_instant(*when, style_.time_format);
    }
    std::string memory_line() const;
    std::string node_range() const;

    const Job& job_;
    const JobSpec& spec_;
    const RecordStyle& style_;
    Record record_;
};

std::string star_or(const std::optional<std::uint32_t>& value) {
    return value ? std::to_string(*value) : "*";
}

std::string null_or_nodes(const std::vector<std::string>& nodes) {
    return nodes.empty() ? "(null)" : model::compress_hostlist(nodes);
}

std::string name_and_id(const std::string& name, std::uint32_t id) {
    return fmt::format("{}({})", name.empty() ? std::to_string(id) : name, id);
}

void JobText::add_identity() {
    std::string first = fmt::format("JobId={} ", job_.id.value);
    if (job_.array) {
        const model::ArrayPlace& place = *job_.array;
        first += fmt::format("ArrayJobId={} ", place.array_id.value);
        const std::string elements =
            place.element ? std::to_string(*place.element)
                          : model::format_pending_elements(place, style_.elements_max);
        if (!elements.empty()) first += fmt::format("ArrayTaskId={} ", elements);
        if (place.throttle > 0) first += fmt::format("ArrayTaskThrottle={} ", place.throttle);
    }
    if (job_.het)
        first +=
            fmt::format("HetJobId={} HetJobOffset={} ", job_.het->leader.value, job_.het->offset);
    record_.line(first + "JobName=" + spec_.name);
    if (job_.het) record_.line("HetJobIdSet=" + component_ids(*job_.het));
    if (style_.details) record_.line("SLUID=" + model::sluid_of(job_, style_.cluster));
    record_.line(fmt::format(
        "UserId={} GroupId={} MCS_label={}", name_and_id(spec_.user, spec_.uid),
        name_and_id(spec_.group, spec_.gid), spec_.mcs_label.empty() ? "N/A" : spec_.mcs_label));
    std::string priority =
        fmt::format("Priority={} Nice={} Account={} QOS={}", shown_priority(job_), spec_.nice,
                    or_null(spec_.account), or_null(spec_.qos));
    if (!spec_.wckey.empty()) priority += " WCKey=" + spec_.wckey;
    record_.line(priority);
}

void JobText::add_state() {
    std::string reason = reason_text(job_);
    std::ranges::replace(reason, ' ', '_');
    record_.line(fmt::format("JobState={} Reason={} Dependency={}",
                             model::long_name(model::state_of(job_)), reason,
                             or_null(model::to_string(spec_.dependency))));
    const model::Outcome* outcome = model::outcome_of(job_);
    const model::ExitStatus exit = outcome != nullptr ? outcome->exit : model::ExitStatus{};
    record_.line(fmt::format("Requeue={:d} Restarts={} BatchFlag={:d} Reboot=0 ExitCode={}",
                             spec_.requeue.value_or(true), job_.restarts,
                             spec_.kind == model::JobKind::Batch, model::to_string(exit)));
    if (style_.details) {
        const model::ExitStatus derived =
            outcome != nullptr ? outcome->derived_exit : model::ExitStatus{};
        record_.line("DerivedExitCode=" + model::to_string(derived));
    }
}

void JobText::add_times() {
    const auto limit = time_limit(job_);
    record_.line(fmt::format("RunTime={} TimeLimit={} TimeMin={}",
                             model::format_duration(time_used(job_, style_.now)),
                             limit ? model::format_limit(*limit) : "Partition_Limit",
                             spec_.time_min ? model::format_limit(*spec_.time_min) : "N/A"));
    record_.line(fmt::format("SubmitTime={} EligibleTime={}", moment(job_.submitted, "Unknown"),
                             moment(eligible_time(job_), "Unknown")));
    record_.line("AccrueTime=" + moment(accrue_time(job_), "Unknown"));
    record_.line(fmt::format("StartTime={} EndTime={} Deadline={}",
                             moment(shown_start(job_), "Unknown"),
                             moment(shown_end(job_), "Unknown"), moment(spec_.deadline, "N/A")));
    if (const model::Running* run = model::run_of(job_);
        run != nullptr && (run->preemptable_at || run->preempted)) {
        record_.line(fmt::format("PreemptEligibleTime={} PreemptTime={}",
                                 moment(run->preemptable_at, "None"),
                                 run->preempted ? moment(run->preempted->at, "None") : "None"));
    }
    std::string suspended = "None";
    std::int64_t before = 0;
    if (const auto* phase = std::get_if<model::Suspended>(&job_.phase); phase != nullptr) {
        suspended = moment(phase->since, "None");
        before = time_used(job_, style_.now).count();
    }
    record_.line(fmt::format("SuspendTime={} SecsPreSuspend={} LastSchedEval={} Scheduler={}",
                             suspended, before, moment(last_evaluated(job_), "Unknown"),
                             job_.scheduler.empty() ? "Main" : job_.scheduler));
}

void JobText::add_place() {
    record_.line(fmt::format("Partition={} AllocNode:Sid={}:{}", partition_text(job_),
                             spec_.submit_host, spec_.alloc_sid));
    record_.line(fmt::format("ReqNodeList={} ExcNodeList={}", null_or_nodes(spec_.required_nodes),
                             null_or_nodes(spec_.excluded_nodes)));
    std::string nodes = "NodeList=" + node_list(job_);
    const auto* pending = std::get_if<model::Pending>(&job_.phase);
    if (pending != nullptr && !pending->planned_nodes.empty()) {
        nodes += " SchedNodeList=" + model::compress_hostlist(pending->planned_nodes);
    }
    record_.line(nodes);
    const std::string host = batch_host(job_);
    if (spec_.kind == model::JobKind::Batch && !host.empty()) record_.line("BatchHost=" + host);
}

// "4-4" while a range was asked for and nothing is given; else the number.
std::string JobText::node_range() const {
    const std::uint32_t nodes = node_count(job_);
    const bool pending = std::holds_alternative<model::Pending>(job_.phase);
    if (!pending || !spec_.nodes_max) return std::to_string(nodes);
    return fmt::format("{}-{}", nodes, *spec_.nodes_max);
}

void JobText::add_size() {
    record_.line(fmt::format("NumNodes={} NumCPUs={} NumTasks={} CPUs/Task={} ReqB:S:C:T=0:0:{}:{}",
                             node_range(), cpu_count(job_), task_count(job_),
                             spec_.cpus_per_task.value_or(1), star_or(spec_.cores_per_socket),
                             star_or(spec_.threads_per_core)));
    record_.line("ReqTRES=" + shown_tres(requested_tres(job_)));
    record_.line("AllocTRES=" + or_null(shown_tres(allocated_tres(job_))));
    record_.line(fmt::format("Socks/Node={} NtasksPerN:B:S:C={}:0:{}:{} CoreSpec={}",
                             star_or(spec_.sockets_per_node), spec_.tasks_per_node.value_or(0),
                             star_or(spec_.tasks_per_socket), star_or(spec_.tasks_per_core),
                             star_or(spec_.core_spec)));
}

// The numbers of the hardware threads behind a grant's cores.
model::IndexSet cpu_ids(const model::NodeGrant& grant) {
    const std::uint64_t cores = grant.cores.size();
    const std::uint64_t threads = cores == 0 ? 1 : std::max<std::uint64_t>(1, grant.cpus / cores);
    model::IndexSet ids;
    for (const auto& [first, last] : grant.cores.intervals()) {
        ids.insert({static_cast<std::uint32_t>(first * threads),
                    static_cast<std::uint32_t>((last + 1) * threads - 1)});
    }
    return ids;
}

// Nodes with the same share stand on one line.
void JobText::add_grants() {
    const model::Allocation* allocation = model::allocation_of(job_);
    if (allocation == nullptr || std::holds_alternative<model::Pending>(job_.phase)) return;
    std::vector<model::GresGrant> sum;
    std::vector<std::pair<std::string, std::vector<std::string>>> lines;  // Share, its nodes.
    for (const model::NodeGrant& grant : allocation->nodes) {
        model::add_grants(sum, grant.gres);
        const std::string share =
            fmt::format("CPU_IDs={} Mem={} GRES={}", model::to_string(cpu_ids(grant)),
                        grant.memory.value, model::to_string(grant.gres));
        if (lines.empty() || lines.back().first != share) lines.push_back({share, {}});
        lines.back().second.push_back(grant.node);
    }
    std::vector<model::GresRequest> totals;
    for (const model::GresGrant& grant : sum)
        totals.push_back({grant.name, grant.type, grant.count});
    record_.line("JOB_GRES=" + or_null(model::to_string(totals)));
    for (const auto& [share, nodes] : lines) {
        record_.line(fmt::format("{}Nodes={} {}", style_.one_line ? "" : "  ",
                                 model::compress_hostlist(nodes), share));
    }
}

std::string JobText::memory_line() const {
    using Per = model::MemoryRequest::Per;
    const model::MemoryRequest& memory = spec_.memory;
    const std::string_view key = memory.per == Per::Cpu   ? "MinMemoryCPU"
                                 : memory.per == Per::Gpu ? "MinMemoryTRES"
                                                          : "MinMemoryNode";
    return fmt::format("{}={}", key,
                       memory.amount.value == 0 ? "0" : short_amount(memory.amount.value, "MGTP"));
}

void JobText::add_demands() {
    const std::string disk =
        spec_.tmp_disk.value == 0 ? "0" : short_amount(spec_.tmp_disk.value, "MGTP");
    record_.line(fmt::format("MinCPUsNode={} {} MinTmpDiskNode={}", cpus_per_node_min(job_),
                             memory_line(), disk));
    record_.line(fmt::format("Features={} DelayBoot=00:00:00", or_null(spec_.constraint)));
    if (!spec_.prefer.empty()) record_.line("Prefer=" + spec_.prefer);
    if (const std::string name = reservation_of(job_); !name.empty())
        record_.line("Reservation=" + name);
    record_.line(fmt::format(
        "OverSubscribe={} Exclusive={} Contiguous={:d} Licenses={} LicensesAlloc={} Network={}",
        spec_.oversubscribe ? "YES" : "NO", exclusive_text(spec_.exclusive), spec_.contiguous,
        or_null(spec_.licenses), or_null(licenses_held(job_)), or_null(spec_.network)));
}

void JobText::add_files() {
    record_.line("Command=" + or_null(spec_.command));
    record_.line("SubmitLine=" + or_null(spec_.submit_line));
    record_.line("WorkDir=" + spec_.work_dir);
    if (!job_.admin_comment.empty()) record_.line("AdminComment=" + job_.admin_comment);
    if (!job_.system_comment.empty()) record_.line("SystemComment=" + job_.system_comment);
    if (!spec_.comment.empty()) record_.line("Comment=" + spec_.comment);
    if (!spec_.extra.empty()) record_.line("Extra=" + spec_.extra);
    if (spec_.kind != model::JobKind::Batch) return;
    const BatchFiles files = batch_files(job_);
    record_.line("StdErr=" + files.err);
    record_.line("StdIn=" + files.in);
    record_.line("StdOut=" + files.out);
}

void JobText::add_optional_lines() {
    const auto add = [&](std::string_view key, const std::string& value) {
        if (!value.empty()) record_.line(fmt::format("{}={}", key, value));
    };
    if (spec_.cpus_per_gpu) add("CpusPerTres", fmt::format("gres/gpu:{}", *spec_.cpus_per_gpu));
    if (spec_.memory.per == model::MemoryRequest::Per::Gpu) {
        add("MemPerTres", fmt::format("gres/gpu:{}", spec_.memory.amount.value));
    }
    add("TresBind", tres_bind(spec_));
    if (!spec_.gpu_freq.empty()) add("TresFreq", "gpu:" + spec_.gpu_freq);
    add("TresPerJob", model::to_tres_string(spec_.gpus_per_job));
    add("TresPerNode", tres_per_node(job_));
    add("TresPerSocket", model::to_tres_string(spec_.gpus_per_socket));
    add("TresPerTask", tres_per_task(spec_));
    if (spec_.mail_types != 0) {
        record_.line(fmt::format("MailUser={} MailType={}",
                                 spec_.mail_user.empty() ? spec_.user : spec_.mail_user,
                                 model::mail_types_to_string(spec_.mail_types)));
    }
    // Why it waits, in more words than the reason has.
    const auto* pending = std::get_if<model::Pending>(&job_.phase);
    if (style_.details && pending != nullptr) add("ReasonDetail", pending->detail);
}

}  // namespace

std::string job_record(const Job& job, const RecordStyle& style) {
    return JobText(job, style).text();
}

std::string step_record(const model::Step& step, const Job& job, const RecordStyle& style) {
    Record record(style);
    const auto& limit = step.spec.time_limit;
    const auto start = model::start_of(step);
    record.line(fmt::format("StepId={} UserId={} StartTime={} TimeLimit={}",
                            step_id_text(step, job), job.spec->uid,
                            start ? model::format_instant(*start, style.time_format) : "Unknown",
                            limit ? model::format_limit(*limit) : "UNLIMITED"));
    record.line(fmt::format("State={} Partition={} NodeList={}",
                            model::long_name(model::state_of(step)), job.partition,
                            step_node_list(step, job)));
    model::Allocation share;
    for (const model::StepNode& node : step.layout.nodes) share.nodes.push_back(node.grant);
    const StepExtent extent = extent_of(step);
    record.line(fmt::format("Nodes={} CPUs={} Tasks={} Name={} Network={}", extent.nodes,
                            extent.cpus, extent.tasks, step.spec.name, or_null(job.spec->network)));
    const bool counts = start && !is_without_share(step);
    record.line("TRES=" + or_null(counts ? step_tres(share) : ""));
    record.line("ResvPorts=" + or_null(step.resv_ports));
    std::string distribution = model::to_string(step.spec.distribution);
    if (!start) distribution = "Unknown";
    if (distribution.empty()) distribution = "Block";
    record.line(is_without_share(step) ? "CPUFreqReq=Default"
                                       : fmt::format("CPUFreqReq=Default Dist={}", distribution));
    record.line(
        fmt::format("SrunHost:Pid={}:{}", or_null(step.spec.srun_host), step.spec.srun_pid));
    return record.take();
}

}  // namespace switchyard::view
