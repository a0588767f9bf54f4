// usage_fields.hpp: the columns of what a step used, which sacct and sstat have in common. They are
// groups in the order of their names: each command puts them where they belong among its own.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "view/accounting/usage_text.hpp"
#include "view/table/report_table.hpp"

namespace switchyard::view {

enum class DiskAmounts { AsOthers, InMegabytes };

// `Usage` gives what a row used, null: nothing is to be shown; `UnitsOf` how to write it.
template <class Row, auto Usage, auto UnitsOf, DiskAmounts Disk>
class UsageFields {
    static constexpr char kCpu[] = "cpu", kMem[] = "mem", kVmem[] = "vmem", kPages[] = "pages",
                          kDisk[] = "fs/disk";
    static constexpr Figure kAve = Figure::Average, kMax = Figure::Max, kMin = Figure::Min;
    static constexpr Where kNode = Where::Node, kTask = Where::Task;
    static constexpr Wide kMark = Wide::Mark, kWhole = Wide::Whole;
    static constexpr int kAveDisk = Disk == DiskAmounts::InMegabytes ? 14 : 12;

    template <const char* Name, bool Out, Figure Kind>
    static std::string amount(const Row& row) {
        const model::StepUsage* usage = Usage(row);
        return usage == nullptr ? std::string()
                                : figure_text(*usage, Name, Out, Kind, UnitsOf(row));
    }
    template <const char* Name, bool Out, Figure Kind, Where Place>
    static std::string place(const Row& row) {
        const model::StepUsage* usage = Usage(row);
        return usage == nullptr ? std::string() : place_text(*usage, Name, Out, Kind, Place);
    }
    template <bool Out, Figure Kind>
    static std::string disk(const Row& row) {
        if constexpr (Disk == DiskAmounts::AsOthers) return amount<kDisk, Out, Kind>(row);
        const model::StepUsage* usage = Usage(row);
        return usage == nullptr ? std::string() : megabytes_text(*usage, kDisk, Out, Kind);
    }
    static std::string frequency(const Row& row) {
        const model::StepUsage* usage = Usage(row);
        return usage == nullptr ? std::string() : frequency_text(*usage, UnitsOf(row));
    }
    template <bool Out, Figure Kind>
    static std::string amounts(const Row& row) {
        const model::StepUsage* usage = Usage(row);
        return usage == nullptr ? std::string() : figures_text(*usage, Out, Kind, UnitsOf(row));
    }
    template <bool Out, Figure Kind, Where Place>
    static std::string places(const Row& row) {
        const model::StepUsage* usage = Usage(row);
        return usage == nullptr ? std::string() : places_text(*usage, Out, Kind, Place);
    }

  public:
    static constexpr std::array<ReportField<Row>, 7> kAverages{{
        {"AveCPU", 10, kMark, amount<kCpu, false, kAve>},
        {"AveCPUFreq", 10, kMark, frequency},
        {"AveDiskRead", kAveDisk, kMark, disk<false, kAve>},
        {"AveDiskWrite", kAveDisk, kMark, disk<true, kAve>},
        {"AvePages", 10, kMark, amount<kPages, false, kAve>},
        {"AveRSS", 10, kMark, amount<kMem, false, kAve>},
        {"AveVMSize", 10, kMark, amount<kVmem, false, kAve>},
    }};
    static constexpr std::array<ReportField<Row>, 15> kMaxima{{
        {"MaxDiskRead", 12, kMark, disk<false, kMax>},
        {"MaxDiskReadNode", 15, kMark, place<kDisk, false, kMax, kNode>},
        {"MaxDiskReadTask", 15, kWhole, place<kDisk, false, kMax, kTask>},
        {"MaxDiskWrite", 12, kMark, disk<true, kMax>},
        {"MaxDiskWriteNode", 16, kMark, place<kDisk, true, kMax, kNode>},
        {"MaxDiskWriteTask", 16, kWhole, place<kDisk, true, kMax, kTask>},
        {"MaxPages", 8, kMark, amount<kPages, false, kMax>},
        {"MaxPagesNode", 12, kMark, place<kPages, false, kMax, kNode>},
        {"MaxPagesTask", 14, kWhole, place<kPages, false, kMax, kTask>},
        {"MaxRSS", 10, kMark, amount<kMem, false, kMax>},
        {"MaxRSSNode", 10, kMark, place<kMem, false, kMax, kNode>},
        {"MaxRSSTask", 10, kWhole, place<kMem, false, kMax, kTask>},
        {"MaxVMSize", 10, kMark, amount<kVmem, false, kMax>},
        {"MaxVMSizeNode", 14, kMark, place<kVmem, false, kMax, kNode>},
        {"MaxVMSizeTask", 14, kWhole, place<kVmem, false, kMax, kTask>},
    }};
    static constexpr std::array<ReportField<Row>, 3> kMinima{{
        {"MinCPU", 10, kMark, amount<kCpu, false, kMin>},
        {"MinCPUNode", 10, kMark, place<kCpu, false, kMin, kNode>},
        {"MinCPUTask", 10, kWhole, place<kCpu, false, kMin, kTask>},
    }};
    static constexpr std::array<ReportField<Row>, 16> kTres{{
        {"TRESUsageInAve", 14, kMark, amounts<false, kAve>},
        {"TRESUsageInMax", 14, kMark, amounts<false, kMax>},
        {"TRESUsageInMaxNode", 18, kMark, places<false, kMax, kNode>},
        {"TRESUsageInMaxTask", 18, kMark, places<false, kMax, kTask>},
        {"TRESUsageInMin", 14, kMark, amounts<false, kMin>},
        {"TRESUsageInMinNode", 18, kMark, places<false, kMin, kNode>},
        {"TRESUsageInMinTask", 18, kMark, places<false, kMin, kTask>},
        {"TRESUsageInTot", 14, kMark, amounts<false, Figure::Total>},
        {"TRESUsageOutAve", 15, kMark, amounts<true, kAve>},
        {"TRESUsageOutMax", 15, kMark, amounts<true, kMax>},
        {"TRESUsageOutMaxNode", 19, kMark, places<true, kMax, kNode>},
        {"TRESUsageOutMaxTask", 19, kMark, places<true, kMax, kTask>},
        {"TRESUsageOutMin", 15, kMark, amounts<true, kMin>},
        {"TRESUsageOutMinNode", 19, kMark, places<true, kMin, kNode>},
        {"TRESUsageOutMinTask", 19, kMark, places<true, kMin, kTask>},
        {"TRESUsageOutTot", 15, kMark, amounts<true, Figure::Total>},
    }};
};

// One table of several, in this order.
template <class Row, std::size_t... Sizes>
std::vector<ReportField<Row>> joined(const std::array<ReportField<Row>, Sizes>&... parts) {
    std::vector<ReportField<Row>> all;
    (all.insert(all.end(), parts.begin(), parts.end()), ...);
    return all;
}

}  // namespace switchyard::view
