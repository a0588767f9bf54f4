// sacct_fields.cpp: every field of sacct --format. The names and widths are those of Slurm.
#include <fmt/format.h>

#include <array>

#include "base/text.hpp"
#include "model/hostlist.hpp"
#include "model/sluid.hpp"
#include "model/time_format.hpp"
#include "view/accounting/sacct_row.hpp"
#include "view/accounting/usage_fields.hpp"
#include "view/accounting/usage_text.hpp"
#include "view/job/job_facts.hpp"
#include "view/step/step_columns.hpp"

namespace switchyard::view {
namespace {

using Row = SacctRow;

const model::JobSpec& spec(const Row& row) { return *row.job.spec; }
std::string number(std::uint64_t value) { return fmt::to_string(value); }
std::string nothing(const Row&) { return {}; }

// Of a step that nobody measured it is nothing, and so it is of a job that never ran; of one that
// runs or ran it is not known.
std::optional<std::uint64_t> joules(const Row& row) {
    if (row.step != nullptr) return joules_of({row.step, 1}).value_or(0);
    if (row.joules || model::allocation_of(row.job) != nullptr) return row.joules;
    return 0;
}
std::string consumed_energy(const Row& row) {
    const auto drawn = joules(row);
    return drawn ? thousands_text(*drawn, row.view.units) : "";
}
std::string consumed_joules(const Row& row) {
    const auto drawn = joules(row);
    return drawn ? number(*drawn) : "";
}

// Of a job only; a step has none of its own.
template <class Text>
std::string of_job(const Row& row, Text text) {
    return row.step == nullptr ? std::string(text(row)) : std::string();
}

std::string moment(const std::optional<Instant>& when, const Row& row, std::string_view none) {
    if (!when) return std::string(none);
    return model::format_instant(*when, row.view.time_format, row.view.now);
}

std::string start_text(const Row& row) {
    const bool over =
        row.step != nullptr ? row.step->end.has_value() : model::outcome_of(row.job) != nullptr;
    return moment(started(row), row, over ? "None" : "Unknown");
}

std::string submit_text(const Row& row) {
    return moment(row.step != nullptr ? row.step->submitted : row.job.submitted, row, "Unknown");
}

std::string eligible_text(const Row& row) {
    if (row.step != nullptr) return moment(row.step->submitted, row, "Unknown");
    return moment(eligible_time(row.job), row, "Unknown");
}

std::string own_id(const Row& row) {
    if (!row.job.array || row.job.array->element || row.element) {
        if (row.element) return fmt::format("{}_{}", row.job.array->array_id.value, *row.element);
        return model::display_id(row.job);
    }
    return fmt::format("{}_[{}]", row.job.array->array_id.value,
                       model::format_pending_elements(*row.job.array, row.view.elements_max));
}

std::string with_step(std::string id, const Row& row) {
    if (row.step != nullptr) id += "." + model::step_name(row.step->key.step);
    return id;
}

std::string node_names(const Row& row) {
    if (row.step != nullptr) return step_node_list(*row.step);
    const model::Allocation* allocation = model::allocation_of(row.job);
    if (allocation == nullptr) return "None assigned";
    return model::compress_hostlist(allocation->node_names());
}

std::uint64_t node_count(const Row& row) {
    if (row.step != nullptr) return row.step->layout.nodes.size();
    const model::Allocation* allocation = model::allocation_of(row.job);
    return allocation != nullptr ? allocation->nodes.size() : view::node_count(row.job);
}

std::string allocated_nodes(const Row& row) {
    const bool none = row.step == nullptr && model::allocation_of(row.job) == nullptr;
    return none ? "0" : number(node_count(row));
}

std::string allocated_tres(const Row& row) {
    if (row.step != nullptr) return sorted_tres(step_tres(*row.step), false, row.view.units);
    return sorted_tres(job_tres(row), true, row.view.units);
}

std::string requested_tres(const Row& row) {
    return sorted_tres(view::requested_tres(row.job), true, row.view.units);
}

// "gpu:2", a field of older releases that exporters still ask for.
std::string allocated_cards(const Row& row) {
    const std::string count = tres_part(allocated_tres(row), "gres/gpu");
    return count.empty() ? count : "gpu:" + count;
}

std::string requested_memory(const Row& row) {
    const std::string memory = tres_part(requested_tres(row), "mem");
    return memory.empty() ? "0" : memory;
}

Seconds planned_cpu(const Row& row) {
    return planned(row) * static_cast<std::int64_t>(requested_cpus(row));
}

Seconds cpu_seconds(const Row& row) { return elapsed(row) * allocated_cpus(row); }

std::optional<model::TimeLimit> limit_of(const Row& row) {
    return row.step != nullptr ? row.step->spec.time_limit : time_limit(row.job);
}

std::string limit_text(const Row& row) {
    const auto limit = limit_of(row);
    if (!limit) return row.step != nullptr ? "" : "Partition_Limit";
    return model::format_limit(*limit);
}

std::string limit_minutes(const Row& row) {
    const auto limit = limit_of(row);
    if (!limit) return row.step != nullptr ? "" : "Partition_Limit";
    return limit->unlimited ? "UNLIMITED"
                            : number(static_cast<std::uint64_t>(limit->seconds.count() / 60));
}

// That of its first run is that of every one.
std::string sluid_text(const Row& row) { return model::sluid_of(row.job, row.view.cluster); }

std::string flags(const Row& row) {
    if (row.step != nullptr) return {};
    // The record of a job that waits has been received as well.
    const bool by_scheduler = model::start_of(row.job) && !row.job.scheduler.empty();
    return by_scheduler ? "Sched" + row.job.scheduler + ",StartReceived" : "StartReceived";
}

std::string cpu_frequency(const Row& row) {
    return row.step != nullptr && row.step->key.step == kBatchStep ? "0" : "Unknown";
}

std::string derived_exit(const Row& row) {
    const model::Outcome* outcome = model::outcome_of(row.job);
    return to_string(outcome == nullptr ? model::ExitStatus{} : outcome->derived_exit);
}

std::string stream_text(const Row& row, Stream stream) {
    if (row.step != nullptr || spec(row).kind != model::JobKind::Batch) return {};
    if (!row.view.expand_patterns) return stream_pattern(row, stream);
    const BatchFiles files = batch_files(row.job);
    return stream == Stream::In ? files.in : stream == Stream::Out ? files.out : files.err;
}

std::string user_text(const Row& row) {
    return spec(row).user.empty() ? number(spec(row).uid) : spec(row).user;
}
std::string group_text(const Row& row) {
    return spec(row).group.empty() ? number(spec(row).gid) : spec(row).group;
}

constexpr Wide kMark = Wide::Mark, kCut = Wide::Cut, kWhole = Wide::Whole;

const auto kFirst = std::to_array<ReportField<Row>>({
    {"Account", 10, kMark, [](const Row& r) { return spec(r).account; }},
    {"AdminComment", 15, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return j.job.admin_comment; }); }},
    {"AllocCPUS", 10, kWhole, [](const Row& r) { return number(allocated_cpus(r)); }},
    {"AllocNodes", 10, kWhole, allocated_nodes},
    {"AllocTRES", 10, kMark, allocated_tres},
    {"AssocID", 7, kWhole, [](const Row&) { return std::string("0"); }},
});

const auto kBlockToLicenses = std::to_array<ReportField<Row>>({
    {"BlockID", 16, kMark, nothing},
    {"Cluster", 10, kMark, [](const Row& r) { return r.view.cluster; }},
    {"Comment", 14, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).comment; }); }},
    {"Constraints", 19, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).constraint; }); }},
    {"ConsumedEnergy", 14, kMark, consumed_energy},
    {"ConsumedEnergyRaw", 17, kMark, consumed_joules},
    {"Container", 19, kMark, nothing},
    {"CPUTime", 10, kCut, [](const Row& r) { return model::format_duration(cpu_seconds(r)); }},
    {"CPUTimeRAW", 10, kWhole,
     [](const Row& r) { return number(static_cast<std::uint64_t>(cpu_seconds(r).count())); }},
    {"DBIndex", 21, kWhole, [](const Row& r) { return number(r.job.id.value); }},
    {"DerivedExitCode", 15, kMark, [](const Row& r) { return of_job(r, derived_exit); }},
    {"Elapsed", 10, kCut, [](const Row& r) { return model::format_duration(elapsed(r)); }},
    {"ElapsedRaw", 10, kWhole,
     [](const Row& r) { return number(static_cast<std::uint64_t>(elapsed(r).count())); }},
    {"Eligible", 19, kCut, eligible_text},
    {"End", 19, kCut, [](const Row& r) { return moment(ended(r), r, "Unknown"); }},
    {"Exclusive", 14, kMark,
     [](const Row& r) {
         return of_job(r, [](const Row& j) { return exclusive_text(spec(j).exclusive); });
     }},
    {"ExitCode", 8, kMark, [](const Row& r) { return to_string(exit_of(r)); }},
    {"Extra", 14, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).extra; }); }},
    {"FailedNode", 8, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return failed_node(j.job); }); }},
    {"Flags", 19, kMark, flags},
    {"GID", 6, kWhole,
     [](const Row& r) { return of_job(r, [](const Row& j) { return number(spec(j).gid); }); }},
    {"Group", 9, kMark, [](const Row& r) { return of_job(r, group_text); }},
    {"JobID", -12, kMark, [](const Row& r) { return with_step(own_id(r), r); }},
    {"JobIDRaw", -12, kMark, [](const Row& r) { return with_step(number(r.job.id.value), r); }},
    {"JobName", 10, kMark,
     [](const Row& r) { return r.step != nullptr ? r.step->spec.name : spec(r).name; }},
    {"Layout", 9, kMark, layout_text},
    {"Licenses", 10, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).licenses; }); }},
});

const auto kMcs = std::to_array<ReportField<Row>>({
    {"McsLabel", 12, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).mcs_label; }); }},
});

const auto kCpusToTotal = std::to_array<ReportField<Row>>({
    {"NCPUS", 10, kWhole, [](const Row& r) { return number(allocated_cpus(r)); }},
    {"NNodes", 8, kWhole, [](const Row& r) { return number(node_count(r)); }},
    {"NodeList", 15, kMark, node_names},
    {"NTasks", 8, kWhole,
     [](const Row& r) {
         return r.step != nullptr ? number(extent_of(*r.step).tasks) : std::string();
     }},
    {"OriginalSLUID", 14, kMark, sluid_text},
    {"OverSubscribe", 14, kMark,
     [](const Row& r) {
         return of_job(r, [](const Row& j) { return over_subscribe_text(spec(j)); });
     }},
    {"Partition", 10, kMark,
     [](const Row& r) {
         return of_job(r, [](const Row& j) { return partition_text(j.job); });
     }},
    {"Planned", 10, kCut,
     [](const Row& r) {
         return of_job(r, [](const Row& j) { return model::format_duration(planned(j)); });
     }},
    {"PlannedCPU", 10, kCut,
     [](const Row& r) {
         return of_job(r, [](const Row& j) { return model::format_duration(planned_cpu(j)); });
     }},
    {"PlannedCPURAW", 13, kWhole,
     [](const Row& r) {
         return of_job(r, [](const Row& j) {
             return number(static_cast<std::uint64_t>(planned_cpu(j).count()));
         });
     }},
    {"Priority", 10, kWhole,
     [](const Row& r) { return of_job(r, [](const Row& j) { return number(j.job.priority); }); }},
    {"QOS", 10, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).qos; }); }},
    {"QOSRAW", 6, kWhole, [](const Row& r) { return of_job(r, [](const Row&) { return "0"; }); }},
    {"QOSREQ", 10, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).qos; }); }},
    {"Reason", 22, kMark,
     [](const Row& r) {
         return of_job(
             r, [](const Row& j) { return std::string(model::reason_text(model::reason_of(j.job))); });
     }},
    {"ReqCPUFreq", 10, kMark, cpu_frequency},
    {"ReqCPUFreqGov", 13, kMark, cpu_frequency},
    {"ReqCPUFreqMax", 13, kMark, cpu_frequency},
    {"ReqCPUFreqMin", 13, kMark, cpu_frequency},
    {"ReqCPUS", 8, kWhole, [](const Row& r) { return number(requested_cpus(r)); }},
    {"ReqMem", 10, kMark, [](const Row& r) { return of_job(r, requested_memory); }},
    {"ReqNodes", 8, kWhole,
     [](const Row& r) {
         if (r.step != nullptr) return number(node_count(r));
         return tres_part(view::requested_tres(r.job), "node");
     }},
    {"ReqTRES", 10, kMark, [](const Row& r) { return of_job(r, requested_tres); }},
    {"Reservation", 20, kMark,
     [](const Row& r) {
         return of_job(r, [](const Row& j) { return reservation_of(j.job); });
     }},
    {"ReservationId", 8, kWhole, nothing},
    {"ReqReservation", 20, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).reservation; }); }},
    {"Restarts", 8, kWhole,
     [](const Row& r) { return of_job(r, [](const Row& j) { return number(j.job.restarts); }); }},
    {"SegmentSize", 11, kWhole, nothing},
    {"SLUID", 14, kMark, sluid_text},
    {"Start", 19, kCut, start_text},
    {"State", 10, kMark, state_text},
    {"StdErr", 20, kMark, [](const Row& r) { return stream_text(r, Stream::Err); }},
    {"StdIn", 20, kMark, [](const Row& r) { return stream_text(r, Stream::In); }},
    {"StdOut", 20, kMark, [](const Row& r) { return stream_text(r, Stream::Out); }},
    {"Submit", 19, kCut, submit_text},
    {"SubmitLine", 20, kMark,
     [](const Row& r) {
         return r.step != nullptr ? r.step->spec.submit_line : spec(r).submit_line;
     }},
    {"Suspended", 10, kCut, [](const Row& r) { return model::format_duration(suspended(r)); }},
    {"SystemComment", 15, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return j.job.system_comment; }); }},
    {"SystemCPU", 10, kCut, [](const Row& r) { return cpu_time_text(usage_of(r).system_us); }},
    {"Timelimit", 10, kCut, limit_text},
    {"TimelimitRaw", 10, kWhole, limit_minutes},
    {"TotalCPU", 10, kCut,
     [](const Row& r) {
         const model::StepUsage usage = usage_of(r);
         return cpu_time_text(usage.user_us + usage.system_us);
     }},
});

const auto kLast = std::to_array<ReportField<Row>>({
    {"UID", 6, kWhole,
     [](const Row& r) { return of_job(r, [](const Row& j) { return number(spec(j).uid); }); }},
    {"User", 9, kMark, [](const Row& r) { return of_job(r, user_text); }},
    {"UserCPU", 10, kCut, [](const Row& r) { return cpu_time_text(usage_of(r).user_us); }},
    {"WCKey", 10, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).wckey; }); }},
    {"WCKeyID", 10, kWhole, [](const Row& r) { return of_job(r, [](const Row&) { return "0"; }); }},
    {"WorkDir", 20, kMark,
     [](const Row& r) { return of_job(r, [](const Row& j) { return spec(j).work_dir; }); }},
    {"AllocGRES", 12, kMark, allocated_cards, false},
});

const model::StepUsage* usage_shown(const Row& row) {
    return row.step == nullptr ? nullptr : &row.step->usage;
}
const Units& units_of(const Row& row) { return row.view.units; }

}  // namespace

std::span<const ReportField<SacctRow>> sacct_fields() {
    using Usage = UsageFields<Row, usage_shown, units_of, DiskAmounts::InMegabytes>;
    static const auto fields =
        joined<Row>(kFirst, Usage::kAverages, kBlockToLicenses, Usage::kMaxima, kMcs,
                    Usage::kMinima, kCpusToTotal, Usage::kTres, kLast);
    return fields;
}

}  // namespace switchyard::view
