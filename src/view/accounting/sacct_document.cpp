#include "view/accounting/sacct_document.hpp"

#include "base/text.hpp"
#include "model/hostlist.hpp"
#include "model/sluid.hpp"
#include "view/accounting/tres_document.hpp"
#include "view/job/job_document.hpp"
#include "view/job/job_facts.hpp"
#include "view/step/step_columns.hpp"
#include "view/step/step_document.hpp"

namespace switchyard::view {
namespace {

std::int64_t seconds_of(const std::optional<Instant>& moment) {
    return moment ? unix_seconds(*moment) : 0;
}

void write_states(Document& document, const SacctRow& row) {
    document.texts("current", {std::string(model::long_name(state_of(row)))});
}

class HistoryWriter {
  public:
    HistoryWriter(Document& document, const SacctRow& row)
        : document_(document), row_(row), job_(row.job), spec_(*row.job.spec) {}

    // In the order of Slurm's own documents.
    void write() {
        document_.begin_map();
        add_identity();
        add_exits_and_times();
        add_place();
        add_request();
        add_files();
        add_state_and_steps();
        add_end();
        document_.end();
    }

  private:
    void add_identity();
    void add_array();
    void add_exits_and_times();
    void add_times();
    void add_place();
    void add_request();
    void add_files();
    void add_state_and_steps();
    void add_end();

    void text(std::string_view key, std::string_view value) { document_.text(key, value); }
    bool by_cpu() const { return spec_.memory.per == model::MemoryRequest::Per::Cpu; }
    bool by_node() const { return spec_.memory.per == model::MemoryRequest::Per::Node; }

    Document& document_;
    const SacctRow& row_;
    const model::Job& job_;
    const model::JobSpec& spec_;
};

void HistoryWriter::add_identity() {
    text("account", spec_.account);
    document_.begin_map("comment");
    text("administrator", job_.admin_comment);
    text("job", spec_.comment);
    text("system", job_.system_comment);
    document_.end();
    const model::Allocation* allocation = model::allocation_of(job_);
    document_.integer(
        "allocation_nodes",
        allocation == nullptr ? 0 : static_cast<std::int64_t>(allocation->nodes.size()));
    add_array();
    document_.begin_map("association");
    text("account", spec_.account);
    text("cluster", row_.view.cluster);
    text("partition", "");
    text("user", spec_.user);
    document_.integer("id", 0);
    document_.end();
    text("block", "");
    text("cluster", row_.view.cluster);
    text("constraints", spec_.constraint);
    text("container", "");
    text("sluid", model::sluid_of(job_, row_.view.cluster));
}

void HistoryWriter::add_array() {
    const auto& place = job_.array;
    document_.begin_map("array");
    document_.integer("job_id", place ? place->array_id.value : 0);
    document_.begin_map("limits");
    document_.begin_map("max");
    document_.begin_map("running");
    document_.integer("tasks", place ? place->throttle : 0);
    document_.end();
    document_.end();
    document_.end();
    document_.number("task_id", place ? Number::of(place->element) : Number{});
    text("task", place && !place->element ? model::format_pending_elements(*place) : "");
    document_.end();
}

void HistoryWriter::add_exits_and_times() {
    const model::Outcome* outcome = model::outcome_of(job_);
    write_exit(document_, "derived_exit_code",
               outcome == nullptr ? model::ExitStatus{} : outcome->derived_exit);
    add_times();
    text("exclusive", exclusive_text(spec_.exclusive));
    write_exit(document_, "exit_code", exit_of(row_));
    text("extra", spec_.extra);
    text("failed_node", failed_node(job_));
    std::vector<std::string> flags;
    const bool started = model::start_of(job_).has_value();
    if (started && job_.scheduler == "Backfill") flags.emplace_back("STARTED_ON_BACKFILL");
    if (started && job_.scheduler == "Main") flags.emplace_back("STARTED_ON_SCHEDULE");
    flags.emplace_back("START_RECEIVED");
    document_.texts("flags", flags);
}

void HistoryWriter::add_times() {
    const model::StepUsage usage = usage_of(row_);
    document_.begin_map("time");
    document_.integer("elapsed", elapsed(row_).count());
    document_.integer("eligible", seconds_of(eligible_time(job_)));
    document_.integer("end", seconds_of(ended(row_)));
    document_.number("planned", Number::of(static_cast<std::uint64_t>(planned(row_).count())));
    document_.integer("start", seconds_of(started(row_)));
    document_.integer("submission", unix_seconds(job_.submitted));
    document_.integer("suspended", suspended(row_).count());
    write_cpu_time(document_, "system", usage.system_us);
    document_.number("limit", limit_number(time_limit(job_)));
    write_cpu_time(document_, "total", usage.user_us + usage.system_us);
    write_cpu_time(document_, "user", usage.user_us);
    document_.end();
}

void HistoryWriter::add_place() {
    text("group", spec_.group);
    document_.begin_map("het");
    document_.integer("job_id", job_.het ? job_.het->leader.value : 0);
    document_.number("job_offset", job_.het ? Number::of(job_.het->offset) : Number{});
    document_.end();
    document_.integer("job_id", job_.id.value);
    text("name", spec_.name);
    text("licenses", spec_.licenses);
    document_.begin_map("mcs");
    text("label", spec_.mcs_label);
    document_.end();
    const model::Allocation* allocation = model::allocation_of(job_);
    text("nodes", allocation == nullptr ? "None assigned"
                                        : model::compress_hostlist(allocation->node_names()));
    text("oversubscribe", spec_.oversubscribe ? "YES" : "NO");
    text("partition", partition_text(job_));
    const auto* pending = std::get_if<model::Pending>(&job_.phase);
    document_.boolean("hold", pending != nullptr && pending->hold != model::Hold::None);
    document_.number("priority", Number::of(job_.priority));
    text("qos", spec_.qos);
    text("qosreq", spec_.qos);
}

void HistoryWriter::add_request() {
    document_.begin_map("required");
    document_.integer("CPUs", static_cast<std::int64_t>(requested_cpus(row_)));
    document_.number("memory_per_cpu", by_cpu() ? Number::of(spec_.memory.amount.value) : Number{});
    document_.number("memory_per_node",
                     by_node() ? Number::of(spec_.memory.amount.value) : Number{});
    document_.end();
    const model::Outcome* outcome = model::outcome_of(job_);
    text("kill_request_user",
         outcome != nullptr && outcome->cancelled_by ? std::to_string(*outcome->cancelled_by) : "");
    document_.integer("restart_cnt", job_.restarts);
    document_.begin_map("reservation");
    document_.integer("id", 0);
    text("name", reservation_of(job_));
    text("requested", spec_.reservation);
    document_.end();
    text("script", "");
    document_.integer("segment_size", 0);
    text("original_sluid", model::sluid_of(job_, row_.view.cluster));
}

void HistoryWriter::add_files() {
    const bool batch = spec_.kind == model::JobKind::Batch;
    const BatchFiles files = batch ? batch_files(job_) : BatchFiles{};
    text("stdin_expanded", files.in);
    text("stdout_expanded", files.out);
    text("stderr_expanded", files.err);
    text("stdout", stream_pattern(row_, Stream::Out));
    text("stderr", stream_pattern(row_, Stream::Err));
    text("stdin", stream_pattern(row_, Stream::In));
}

void HistoryWriter::add_state_and_steps() {
    document_.begin_map("state");
    write_states(document_, row_);
    text("reason", model::reason_text(model::reason_of(job_)));
    document_.end();
    document_.begin_list("steps");
    for (const model::Step& step : row_.steps) {
        document_.begin_map();
        write_past_step(document_, {.job = job_, .step = &step, .steps = {}, .view = row_.view});
        document_.end();
    }
    document_.end();
    text("submit_line", spec_.submit_line);
}

void HistoryWriter::add_end() {
    document_.begin_map("tres");
    write_tres_list(document_, "allocated", job_tres(row_));
    write_tres_list(document_, "requested", requested_tres(job_));
    document_.end();
    text("used_gres", "");
    text("user", spec_.user);
    document_.begin_map("wckey");
    text("wckey", spec_.wckey);
    document_.texts("flags", {});
    document_.end();
    text("working_directory", spec_.work_dir);
}

}  // namespace

void write_history(Document& document, const SacctRow& row) {
    HistoryWriter(document, row).write();
}

}  // namespace switchyard::view
