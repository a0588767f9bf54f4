#include "view/accounting/sstat_fields.hpp"

#include <fmt/format.h>

#include <array>

#include "model/sluid.hpp"
#include "view/accounting/sacct_row.hpp"
#include "view/accounting/usage_fields.hpp"
#include "view/step/step_columns.hpp"

namespace switchyard::view {
namespace {

using Row = StatRow;

std::string frequency(const Row& row) { return row.step.key.step == kBatchStep ? "0" : "Unknown"; }

std::uint64_t joules(const Row& row) {
    const model::UsageMeasure* energy = model::find_measure(row.usage, "energy");
    return energy == nullptr ? 0 : energy->total;
}

constexpr Wide kMark = Wide::Mark, kWhole = Wide::Whole;

const auto kFirst = std::to_array<ReportField<Row>>({
    {"AllocTRES", 10, kMark,
     [](const Row& r) {
         // As Slurm has it: that of the batch step is the job's.
         if (r.step.key.step == kBatchStep) return std::string();
         return sorted_tres(step_tres(r.step), false, r.units);
     }},
});

const auto kEnergyToJob = std::to_array<ReportField<Row>>({
    {"ConsumedEnergy", 14, kMark, [](const Row& r) { return thousands_text(joules(r), r.units); }},
    {"ConsumedEnergyRaw", 17, kMark, [](const Row& r) { return fmt::to_string(joules(r)); }},
    {"JobID", -12, kMark, [](const Row& r) { return raw_step_id(r.step); }},
});

const auto kNodelistToSluid = std::to_array<ReportField<Row>>({
    {"Nodelist", 20, kMark, [](const Row& r) { return r.nodes; }},
    {"NTasks", 8, kWhole, [](const Row& r) { return fmt::to_string(r.step.layout.task_count()); }},
    {"Pids", 20, kMark, [](const Row& r) { return r.pids; }},
    {"ReqCPUFreq", 10, kMark, frequency},
    {"ReqCPUFreqMin", 13, kMark, frequency},
    {"ReqCPUFreqMax", 13, kMark, frequency},
    {"ReqCPUFreqGov", 13, kMark, frequency},
    {"SLUID", 14, kMark, [](const Row& r) { return model::sluid_of(r.job, r.cluster); }},
});

const model::StepUsage* used(const Row& row) { return &row.usage; }
const Units& units_of(const Row& row) { return row.units; }

}  // namespace

std::span<const ReportField<StatRow>> sstat_fields() {
    using Usage = UsageFields<Row, used, units_of, DiskAmounts::AsOthers>;
    static const auto fields = joined<Row>(kFirst, Usage::kAverages, kEnergyToJob, Usage::kMaxima,
                                           Usage::kMinima, kNodelistToSluid, Usage::kTres);
    return fields;
}

}  // namespace switchyard::view
