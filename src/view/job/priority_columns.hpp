// priority_columns.hpp: every field of sprio. Jobs have no factors here: a job is ordered by the
// tier of its partition, its priority and its submission, so every weight is zero and what remains
// of a priority is the number itself.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/job.hpp"
#include "view/table/field_table.hpp"

namespace switchyard::view {

struct PriorityRow {
    const model::Job* job;  // Null: the line of weights.
    std::string partition;
    std::string cluster;  // As asked for with -M.
    std::string sluid;
};

std::span<const Field<PriorityRow>> priority_fields();

// Factors without weight are left out, as Slurm does.
inline constexpr std::string_view kPriorityFormat = "%.15i %9r %.10Y %.10S";
inline constexpr std::string_view kPriorityFormatOfUsers = "%.15i %9r %.8u %.10Y %.10S";
inline constexpr std::string_view kPriorityNormal = "%.15i %9r %10y";
inline constexpr std::string_view kPriorityNormalOfUsers = "%.15i %9r %.8u %10y";
inline constexpr std::string_view kPriorityLong =
    "%.15i %9r %.8u %.8o %.10Y %.10S %.10A %.10B %.10F %.10J %.10P %.10n %.10Q %.11N %.20T";
inline constexpr std::string_view kPriorityLongNormal =
    "%.15i %9r %.8u %.8o %10y %10a %10b %10f %10j %10p %10n %10q %20t";
inline constexpr std::string_view kPriorityHelpLetters = "aAbBcfFijJnNopPrSqQsuyYtT";

}  // namespace switchyard::view
