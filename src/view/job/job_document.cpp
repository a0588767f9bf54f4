#include "view/job/job_document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "model/dependency.hpp"
#include "model/hostlist.hpp"
#include "model/mail.hpp"
#include "model/signals.hpp"
#include "model/sluid.hpp"
#include "view/amount_text.hpp"
#include "view/job/cards_asked.hpp"
#include "view/job/job_facts.hpp"
#include "view/node/node_facts.hpp"
#include "view/step/step_columns.hpp"

namespace switchyard::view {
namespace {

using model::Job;
using model::JobSpec;

// What a job without --core-spec has in place of the number of threads.
constexpr std::int64_t kNoThreadSpec = 32766;

class JobWriter {
  public:
    JobWriter(Document& document, const Job& job, const DocumentContext& context)
        : document_(document), job_(job), spec_(*job.spec), context_(context) {}

    // In the order of Slurm's own documents.
    void write() {
        document_.begin_map();
        add_identity();
        add_first_sizes();
        add_ends();
        add_group_and_place();
        add_names();
        add_sizes();
        add_priority();
        add_times();
        add_files();
        add_tres();
        document_.end();
    }

  private:
    void add_identity();
    void add_first_sizes();
    void add_ends();
    void add_group_and_place();
    void add_resources();
    struct NodeUse {
        std::uint32_t cpus = 0;
        model::MiB memory;
    };
    NodeUse use_on(std::string_view node) const;
    void add_cores(const model::NodeGrant& grant);
    void add_names();
    void add_sizes();
    void add_priority();
    void add_times();
    void add_files();
    void add_tres();

    void text(std::string_view key, std::string_view value) { document_.text(key, value); }
    void number(std::string_view key, const Number& value) { document_.number(key, value); }
    void zero(std::string_view key) { document_.number(key, Number::of(0)); }
    void unset(std::string_view key) { document_.number(key, {}); }
    bool ran() const { return model::run_of(job_) != nullptr; }

    Document& document_;
    const Job& job_;
    const JobSpec& spec_;
    const DocumentContext& context_;
};

std::string nodes_text(const std::vector<std::string>& nodes) {
    return nodes.empty() ? std::string() : model::compress_hostlist(nodes);
}

// Of the words Slurm has those whose truth the record tells: which partition and memory were typed
// and which are the site's is no longer known.
std::vector<std::string> flags_of(const Job& job) {
    const JobSpec& spec = *job.spec;
    const std::pair<bool, std::string_view> words[] = {
        {spec.tasks.has_value(), "EXACT_TASK_COUNT_REQUESTED"},
        {spec.cpus_per_task.has_value(), "EXACT_CPU_COUNT_REQUESTED"},
        {model::run_of(job) != nullptr, "JOB_WAS_RUNNING"},
        {spec.kill_on_invalid_dependency, "KILL_INVALID_DEPENDENCY"},
        {spec.account.empty(), "USING_DEFAULT_ACCOUNT"},
        {spec.qos.empty(), "USING_DEFAULT_QOS"},
        {spec.wckey.empty(), "USING_DEFAULT_WCKEY"},
        {spec.spread, "SPREAD_JOB"},
        {spec.use_min_nodes, "USE_MIN_NODES"},
        {!model::to_string(spec.dependency).empty(), "DEPENDENT"},
        {spec.tasks && !spec.nodes_min, "JOB_IMPLICIT_MAX_NODES"},
    };
    std::vector<std::string> flags;
    for (const auto& [holds, word] : words) {
        if (holds) flags.emplace_back(word);
    }
    return flags;
}

void JobWriter::add_identity() {
    text("account", spec_.account);
    number("accrue_time", moment_number(accrue_time(job_)));
    text("admin_comment", job_.admin_comment);
    text("allocating_node", spec_.submit_host);
    const auto& place = job_.array;
    number("array_job_id", Number::of(place ? place->array_id.value : 0));
    number("array_task_id", place ? Number::of(place->element) : Number{});
    number("array_max_tasks", Number::of(place ? place->throttle : 0));
    text("array_task_string",
         place && !place->element ? model::format_pending_elements(*place) : "");
    document_.integer("association_id", 0);
    text("batch_features", "");
    document_.boolean("batch_flag", spec_.kind == model::JobKind::Batch);
    text("batch_host", batch_host(job_));
    document_.texts("flags", flags_of(job_));
    text("burst_buffer", "");
    text("burst_buffer_state", "");
    text("cluster", context_.cluster);
    text("cluster_features", "");
    text("command", spec_.command);
    text("comment", spec_.comment);
    text("container", "");
    text("container_id", "");
    text("container_type", "");
    document_.boolean("contiguous", spec_.contiguous);
}

void JobWriter::add_first_sizes() {
    document_.integer("core_spec", spec_.core_spec.value_or(0));
    document_.integer("thread_spec", kNoThreadSpec);
    number("cores_per_socket", Number::of(spec_.cores_per_socket));
    document_.real_number("billable_tres",
                          ran() ? std::optional<double>(cpu_count(job_)) : std::nullopt);
    number("cpus_per_task", Number::of(spec_.cpus_per_task.value_or(1)));
    unset("cpu_frequency_minimum");
    unset("cpu_frequency_maximum");
    unset("cpu_frequency_governor");
    text("cpus_per_tres",
         spec_.cpus_per_gpu ? fmt::format("gres/gpu:{}", *spec_.cpus_per_gpu) : "");
    text("cron", "");
    number("deadline", moment_number(spec_.deadline));
    zero("delay_boot");
    text("dependency", model::to_string(spec_.dependency));
}

void JobWriter::add_ends() {
    const model::Outcome* outcome = model::outcome_of(job_);
    const model::Outcome none;
    if (outcome == nullptr) outcome = &none;
    write_exit(document_, "derived_exit_code", outcome->derived_exit);
    number("eligible_time", moment_number(eligible_time(job_)));
    number("end_time", moment_number(shown_end(job_)));
    text("excluded_nodes", nodes_text(spec_.excluded_nodes));
    write_exit(document_, "exit_code", outcome->exit);
    text("extra", spec_.extra);
    text("failed_node", failed_node(job_));
    text("features", spec_.constraint);
    text("federation_origin", "");
    text("federation_siblings_active", "");
    text("federation_siblings_viable", "");
}

// What a job holds of a node's resources, as the node itself would list it.
std::string gres_detail(const model::NodeGrant& grant, const DocumentContext& context) {
    const auto node = context.nodes.find(grant.node);
    if (node == context.nodes.end()) return model::to_string(grant.gres);
    std::vector<model::GresInventory> inventory = gres_of(*node->second);
    std::erase_if(inventory, [&](const model::GresInventory& entry) {
        return std::ranges::none_of(grant.gres, [&](const model::GresGrant& share) {
            return share.name == entry.name && (share.type.empty() || share.type == entry.type);
        });
    });
    return model::format_gres_used(inventory, grant.gres);
}

std::vector<std::string> gres_details(const Job& job, const DocumentContext& context) {
    std::vector<std::string> details;
    const model::Allocation* allocation = model::allocation_of(job);
    if (allocation == nullptr || std::holds_alternative<model::Pending>(job.phase)) return details;
    for (const model::NodeGrant& grant : allocation->nodes) {
        if (!grant.gres.empty()) details.push_back(gres_detail(grant, context));
    }
    return details;
}

std::vector<std::string> states_of(const Job& job) {
    const model::JobState base = model::base_state_of(job), shown = model::state_of(job);
    std::vector<std::string> states{std::string(model::long_name(base))};
    if (shown != base) states.emplace_back(model::long_name(shown));
    return states;
}

void JobWriter::add_group_and_place() {
    document_.texts("gres_detail", gres_details(job_, context_));
    document_.integer("group_id", spec_.gid);
    text("group_name", spec_.group);
    const auto& het = job_.het;
    number("het_job_id", Number::of(het ? het->leader.value : 0));
    text("het_job_id_set", het ? component_ids(*het) : "");
    number("het_job_offset", Number::of(het ? het->offset : 0));
    document_.integer("job_id", job_.id.value);
    add_resources();
    document_.texts("job_size_str", {});
    document_.texts("job_state", states_of(job_));
    number("last_sched_evaluation", moment_number(last_evaluated(job_)));
    text("licenses", spec_.licenses);
    text("licenses_allocated", licenses_held(job_));
}

void JobWriter::add_resources() {
    const model::Allocation* allocation = model::allocation_of(job_);
    if (allocation == nullptr || std::holds_alternative<model::Pending>(job_.phase)) {
        return document_.null("job_resources");
    }
    document_.begin_map("job_resources");
    document_.texts("select_type", {"CR_CORE_MEMORY"});
    document_.begin_map("nodes");
    document_.integer("count", static_cast<std::int64_t>(allocation->nodes.size()));
    document_.texts("select_type", {"ONE_ROW"});
    text("list", model::compress_hostlist(allocation->node_names()));
    document_.boolean("whole", spec_.exclusive == model::Exclusive::Node);
    document_.begin_list("allocation");
    std::int64_t index = 0;
    for (const model::NodeGrant& grant : allocation->nodes) {
        const NodeUse use = use_on(grant.node);
        document_.begin_map();
        document_.integer("index", index++);
        text("name", grant.node);
        document_.begin_map("cpus");
        document_.integer("count", grant.cpus);
        document_.integer("used", use.cpus);
        document_.end();
        document_.begin_map("memory");
        document_.integer("used", static_cast<std::int64_t>(use.memory.value));
        document_.integer("allocated", static_cast<std::int64_t>(grant.memory.value));
        document_.end();
        add_cores(grant);
        document_.end();
    }
    document_.end();
    document_.end();
    document_.integer("cpus", allocation->cpus());
    number("threads_per_core", Number::of(spec_.threads_per_core));
    document_.end();
}

// What the steps of srun hold of a node; the batch script holds nothing.
JobWriter::NodeUse JobWriter::use_on(std::string_view node) const {
    NodeUse use;
    const auto [first, last] = context_.steps.equal_range(job_.id);
    for (auto entry = first; entry != last; ++entry) {
        const model::Step& step = *entry->second;
        const std::string name = model::step_name(step.key.step);
        if (step.end || name == "batch" || name == "extern") continue;
        for (const model::StepNode& place : step.layout.nodes) {
            if (place.grant.node != node) continue;
            use.cpus += place.grant.cpus;
            use.memory += place.grant.memory;
        }
    }
    return use;
}

// Every core of the node, and whether it is the job's.
void JobWriter::add_cores(const model::NodeGrant& grant) {
    document_.begin_list("sockets");
    const auto node = context_.nodes.find(grant.node);
    if (node != context_.nodes.end()) {
        const NodeSize size = size_of(*node->second);
        for (std::uint32_t socket = 0; socket < size.sockets; ++socket) {
            document_.begin_map();
            document_.integer("index", socket);
            document_.begin_list("cores");
            for (std::uint32_t core = 0; core < size.cores_per_socket; ++core) {
                document_.begin_map();
                document_.integer("index", core);
                const bool ours = grant.cores.contains(socket * size.cores_per_socket + core);
                document_.begin_list("status");
                document_.text({}, ours ? "ALLOCATED" : "UNALLOCATED");
                document_.end();
                document_.end();
            }
            document_.end();
            document_.end();
        }
    }
    document_.end();
}

void JobWriter::add_names() {
    std::vector<std::string> mail;
    if (spec_.mail_types != 0) {
        for (const auto word : split(model::mail_types_to_string(spec_.mail_types), ',')) {
            mail.emplace_back(word);
        }
    }
    document_.texts("mail_type", mail);
    text("mail_user", spec_.mail_user.empty() ? spec_.user : spec_.mail_user);
    zero("max_cpus");
    const bool waits = std::holds_alternative<model::Pending>(job_.phase);
    number("max_nodes", Number::of(waits ? spec_.nodes_max.value_or(0) : 0));
    text("mcs_label", spec_.mcs_label);
    const bool per_gpu = spec_.memory.per == model::MemoryRequest::Per::Gpu;
    text("memory_per_tres", per_gpu ? fmt::format("gres/gpu:{}", spec_.memory.amount.value) : "");
    document_.integer("memory_update_delay", 0);
    document_.integer("memory_update_margin", 0);
    text("name", spec_.name);
    text("network", spec_.network);
    text("nodes", node_list(job_));
    document_.integer("nice", spec_.nice);
}

Number number_or_unlimited(const std::optional<std::uint32_t>& value) {
    return value ? Number::of(*value) : Number::unlimited();
}

void JobWriter::add_sizes() {
    number("tasks_per_core", number_or_unlimited(spec_.tasks_per_core));
    number("tasks_per_tres", Number::of(spec_.tasks_per_gpu.value_or(0)));
    number("tasks_per_node", Number::of(spec_.tasks_per_node.value_or(0)));
    number("tasks_per_socket", number_or_unlimited(spec_.tasks_per_socket));
    zero("tasks_per_board");
    number("cpus", Number::of(cpu_count(job_)));
    number("node_count", Number::of(node_count(job_)));
    number("tasks", Number::of(task_count(job_)));
    text("partition", partition_text(job_));
    text("prefer", spec_.prefer);
    using Per = model::MemoryRequest::Per;
    const auto memory = [&](Per per) {
        return spec_.memory.per == per ? Number::of(spec_.memory.amount.value) : Number{};
    };
    number("memory_per_cpu", memory(Per::Cpu));
    number("memory_per_node", memory(Per::Node));
    number("minimum_cpus_per_node", Number::of(cpus_per_node_min(job_)));
    number("minimum_tmp_disk_per_node", Number::of(spec_.tmp_disk.value));
}

std::vector<std::string> sharing_of(const JobSpec& spec) {
    if (spec.exclusive == model::Exclusive::User) return {"user"};
    if (spec.exclusive == model::Exclusive::Mcs) return {"mcs"};
    if (spec.exclusive == model::Exclusive::Topo) return {"topo"};
    if (spec.oversubscribe) return {"oversubscribe"};
    return {};
}

void JobWriter::add_priority() {
    const model::Running* run = model::run_of(job_);
    const bool preempted = run != nullptr && run->preempted;
    number("preempt_time",
           moment_number(preempted ? std::optional(run->preempted->at) : std::nullopt));
    number("preemptable_time", moment_number(run != nullptr ? run->preemptable_at : std::nullopt));
    const auto* suspended = std::get_if<model::Suspended>(&job_.phase);
    number("pre_sus_time",
           Number::of(suspended != nullptr
                          ? static_cast<std::uint64_t>(time_used(job_, context_.now).count())
                          : 0));
    const auto* pending = std::get_if<model::Pending>(&job_.phase);
    document_.boolean("hold", pending != nullptr && pending->hold != model::Hold::None);
    number("priority", Number::of(shown_priority(job_)));
    document_.texts("priority_by_partition", {});
    document_.texts("profile", {"NOT_SET"});
    text("qos", spec_.qos);
    document_.boolean("reboot", false);
    text("required_nodes", nodes_text(spec_.required_nodes));
    document_.integer("required_switches", 0);
    document_.boolean("requeue", spec_.requeue.value_or(true));
    zero("resize_time");
    document_.integer("restart_cnt", job_.restarts);
    text("resv_name", reservation_of(job_));
    text("scheduled_nodes", pending != nullptr ? nodes_text(pending->planned_nodes) : "");
    document_.integer("segment_size", 0);
    text("selinux_context", "");
    document_.texts("shared", sharing_of(spec_));
}

void JobWriter::add_times() {
    document_.begin_map("step_id");
    text("sluid", model::sluid_of(job_, context_.cluster));
    number("job_id", Number::of(job_.id.value));
    unset("step_het_component");
    text("step_id", "entire");
    document_.end();
    document_.integer("sockets_per_board", 0);
    number("sockets_per_node", Number::of(spec_.sockets_per_node));
    number("start_time", moment_number(shown_start(job_)));
    const auto* pending = std::get_if<model::Pending>(&job_.phase);
    const std::string_view reason = model::reason_text(model::reason_of(job_));
    const std::string words = reason_text(job_);
    // Of nodes that are down or kept for others Slurm tells as a description of Resources.
    const bool described = model::reason_of(job_) == model::Reason::NodeDown;
    text("state_description", described            ? words
                              : pending != nullptr ? pending->detail
                              : words == reason    ? ""
                                                   : words);
    text("state_reason", described ? model::reason_text(model::Reason::Resources) : reason);
}

void JobWriter::add_files() {
    const bool batch = spec_.kind == model::JobKind::Batch;
    const BatchFiles files = batch ? batch_files(job_) : BatchFiles{};
    const std::string_view default_out = job_.array ? "slurm-%A_%a.out" : "slurm-%j.out";
    text("standard_input", !batch ? "" : spec_.std_in.empty() ? "/dev/null" : spec_.std_in);
    text("standard_output", !batch ? "" : spec_.std_out.empty() ? default_out : spec_.std_out);
    text("standard_error", batch ? spec_.std_err : "");
    text("stdin_expanded", files.in);
    text("stdout_expanded", files.out);
    text("stderr_expanded", files.err);
    number("submit_time", moment_number(job_.submitted));
    text("submit_line", spec_.submit_line);
    const auto* suspended = std::get_if<model::Suspended>(&job_.phase);
    number("suspend_time", suspended != nullptr ? moment_number(suspended->since) : Number::of(0));
    text("system_comment", job_.system_comment);
    number("time_limit", limit_number(time_limit(job_)));
    number("time_minimum", spec_.time_min ? limit_number(spec_.time_min) : Number::of(0));
    number("threads_per_core", Number::of(spec_.threads_per_core));
}

void JobWriter::add_tres() {
    text("tres_bind", tres_bind(spec_));
    text("tres_freq", spec_.gpu_freq.empty() ? "" : "gpu:" + spec_.gpu_freq);
    text("tres_per_job", model::to_tres_string(spec_.gpus_per_job));
    text("tres_per_node", tres_per_node(job_));
    text("tres_per_socket", model::to_tres_string(spec_.gpus_per_socket));
    text("tres_per_task", tres_per_task(spec_));
    text("tres_req_str", shown_tres(requested_tres(job_)));
    text("tres_alloc_str", shown_tres(allocated_tres(job_)));
    document_.integer("user_id", spec_.uid);
    text("user_name", spec_.user);
    document_.integer("maximum_switch_wait_time", 0);
    text("wckey", spec_.wckey);
    text("current_working_directory", spec_.work_dir);
}

}  // namespace

Number moment_number(const std::optional<Instant>& moment) {
    return Number::of(moment ? static_cast<std::uint64_t>(unix_seconds(*moment)) : 0);
}

Number limit_number(const std::optional<model::TimeLimit>& limit) {
    if (!limit) return {};
    if (limit->unlimited) return Number::unlimited();
    return Number::of(static_cast<std::uint64_t>((limit->seconds.count() + 59) / 60));
}

void write_exit(Document& document, std::string_view key, const model::ExitStatus& exit) {
    document.begin_map(key);
    document.begin_list("status");
    document.text({}, exit.signal != 0 ? "SIGNALED" : exit.code != 0 ? "ERROR" : "SUCCESS");
    document.end();
    document.number("return_code", Number::of(static_cast<std::uint64_t>(exit.code)));
    document.begin_map("signal");
    document.number(
        "id", exit.signal != 0 ? Number::of(static_cast<std::uint64_t>(exit.signal)) : Number{});
    document.text("name", exit.signal != 0 ? model::signal_name(exit.signal) : "");
    document.end();
    document.end();
}

void write_job(Document& document, const Job& job, const DocumentContext& context) {
    JobWriter(document, job, context).write();
}

}  // namespace switchyard::view
