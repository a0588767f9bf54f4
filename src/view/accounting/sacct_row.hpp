// sacct_row.hpp: one line of sacct: a job, or a step of one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/job.hpp"
#include "model/step.hpp"
#include "view/accounting/amounts.hpp"
#include "view/table/report_table.hpp"

namespace switchyard::view {

struct SacctView {
    Instant now{};
    std::string cluster;
    std::string time_format;        // SLURM_TIME_FORMAT
    std::size_t elements_max = 64;  // SLURM_BITSTR_LEN; 0: never cut.
    Units units;
    bool expand_patterns = false;
    // --truncate: times before and after are shown as these.
    std::optional<Instant> earliest, latest;
};

struct SacctRow {
    const model::Job& job;
    const model::Step* step = nullptr;        // Null: the job itself.
    std::span<const model::Step> steps = {};  // Of this run of the job; none with -X.
    const SacctView& view;
    std::optional<std::uint32_t> element = {};  // --array: this one of a pending block.
    // What all steps of a job drew, with -X too; none: nobody measured it.
    std::optional<std::uint64_t> joules = {};
};

// What several fields, and the JSON, ask of a line.
Seconds elapsed(const SacctRow& row);
Seconds suspended(const SacctRow& row);
std::optional<Instant> started(const SacctRow& row);
std::optional<Instant> ended(const SacctRow& row);
std::uint32_t allocated_cpus(const SacctRow& row);
model::JobState state_of(const SacctRow& row);
model::ExitStatus exit_of(const SacctRow& row);
model::StepUsage usage_of(const SacctRow& row);  // Of a job: the sum of its steps.
// What they drew together; none: nobody measured it.
std::optional<std::uint64_t> joules_of(std::span<const model::Step> steps);
// As model::format_tres, with the energy once it is known.
std::string job_tres(const SacctRow& row);
std::string step_tres(const model::Step& step);  // As model::format_tres.
std::string state_text(const SacctRow& row);     // "CANCELLED by 1000"
Seconds planned(const SacctRow& row);            // From when it could have run until it did.
std::uint64_t requested_cpus(const SacctRow& row);
std::string layout_text(const SacctRow& row);  // "Block"; empty for a job.
// The value of one part of "cpu=2,mem=200M,node=2".
std::string tres_part(std::string_view tres, std::string_view name);

enum class Stream { In, Out, Err };
// The name of a batch job's file as it was given, or what is taken without one.
std::string stream_pattern(const SacctRow& row, Stream stream);

// sacct_fields.cpp and usage_fields.cpp.
std::span<const ReportField<SacctRow>> sacct_fields();

inline constexpr std::string_view kSacctFormat =
    "jobid,jobname,partition,account,alloccpus,state,exitcode";
inline constexpr std::string_view kSacctBrief = "jobid,state,exitcode";
inline constexpr std::string_view kSacctLong =
    "jobid,jobidraw,jobname,partition,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,"
    "maxrssnode,maxrsstask,averss,maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,"
    "mincputask,avecpu,ntasks,alloccpus,elapsed,state,exitcode,avecpufreq,reqcpufreqmin,"
    "reqcpufreqmax,reqcpufreqgov,reqmem,consumedenergy,maxdiskread,maxdiskreadnode,maxdiskreadtask,"
    "avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,avediskwrite,reqtres,alloctres,"
    "tresusageinave,tresusageinmax,tresusageinmaxnode,tresusageinmaxtask,tresusageinmin,"
    "tresusageinminnode,tresusageinmintask,tresusageintot,tresusageoutmax,tresusageoutmaxnode,"
    "tresusageoutmaxtask,tresusageoutave,tresusageouttot";

}  // namespace switchyard::view
