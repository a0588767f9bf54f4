// sstat_fields.hpp: every field of sstat --format. The names and widths are those of Slurm.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/job.hpp"
#include "model/step.hpp"
#include "view/accounting/amounts.hpp"
#include "view/table/report_table.hpp"

namespace switchyard::view {

// A step that runs, and what it uses now.
struct StatRow {
    const model::Job& job;
    const model::Step& step;
    const model::StepUsage& usage;
    const Units& units;
    const std::string& cluster;
    std::string nodes, pids;
};

std::span<const ReportField<StatRow>> sstat_fields();

inline constexpr std::string_view kStatFormat =
    "jobid,alloctres,maxvmsize,maxvmsizenode,maxvmsizetask,avevmsize,maxrss,maxrssnode,maxrsstask,"
    "averss,maxpages,maxpagesnode,maxpagestask,avepages,mincpu,mincpunode,mincputask,avecpu,ntasks,"
    "avecpufreq,reqcpufreqmin,reqcpufreqmax,reqcpufreqgov,consumedenergy,maxdiskread,"
    "maxdiskreadnode,maxdiskreadtask,avediskread,maxdiskwrite,maxdiskwritenode,maxdiskwritetask,"
    "avediskwrite,tresusageinave,tresusageinmax,tresusageinmaxnode,tresusageinmaxtask,"
    "tresusageinmin,tresusageinminnode,tresusageinmintask,tresusageintot,tresusageoutave,"
    "tresusageoutmax,tresusageoutmaxnode,tresusageoutmaxtask,tresusageoutmin,tresusageoutminnode,"
    "tresusageoutmintask,tresusageouttot";
inline constexpr std::string_view kStatPidFormat = "jobid,nodelist,pids";

}  // namespace switchyard::view
