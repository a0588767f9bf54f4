// tres_usage_fields.hpp: the sixteen TRESUsage columns, which sacct and sstat have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "cli/accounting/print_fields.hpp"
#include "cli/accounting/usage_text.hpp"

namespace switchyard::cli::accounting {

// `Usage` gives what a row used, null: nothing is to be shown; `UnitsOf` how to write it.
template <class Row, const model::StepUsage* (*Usage)(const Row&),
          const Units& (*UnitsOf)(const Row&)>
class TresUsageFields {
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
    static constexpr Wide kMark = Wide::Mark;
    static constexpr Figure kMax = Figure::Max, kMin = Figure::Min;

  public:
    static constexpr std::array<Field<Row>, 16> kAll{{
        {"TRESUsageInAve", 14, kMark, amounts<false, Figure::Average>},
        {"TRESUsageInMax", 14, kMark, amounts<false, kMax>},
        {"TRESUsageInMaxNode", 18, kMark, places<false, kMax, Where::Node>},
        {"TRESUsageInMaxTask", 18, kMark, places<false, kMax, Where::Task>},
        {"TRESUsageInMin", 14, kMark, amounts<false, kMin>},
        {"TRESUsageInMinNode", 18, kMark, places<false, kMin, Where::Node>},
        {"TRESUsageInMinTask", 18, kMark, places<false, kMin, Where::Task>},
        {"TRESUsageInTot", 14, kMark, amounts<false, Figure::Total>},
        {"TRESUsageOutAve", 15, kMark, amounts<true, Figure::Average>},
        {"TRESUsageOutMax", 15, kMark, amounts<true, kMax>},
        {"TRESUsageOutMaxNode", 19, kMark, places<true, kMax, Where::Node>},
        {"TRESUsageOutMaxTask", 19, kMark, places<true, kMax, Where::Task>},
        {"TRESUsageOutMin", 15, kMark, amounts<true, kMin>},
        {"TRESUsageOutMinNode", 19, kMark, places<true, kMin, Where::Node>},
        {"TRESUsageOutMinTask", 19, kMark, places<true, kMin, Where::Task>},
        {"TRESUsageOutTot", 15, kMark, amounts<true, Figure::Total>},
    }};
};

// One table of several, in this order.
template <class Row, std::size_t... Sizes>
std::vector<Field<Row>> joined(const std::array<Field<Row>, Sizes>&... parts) {
    std::vector<Field<Row>> all;
    (all.insert(all.end(), parts.begin(), parts.end()), ...);
    return all;
}

}  // namespace switchyard::cli::accounting
