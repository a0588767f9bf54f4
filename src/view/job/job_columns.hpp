// job_columns.hpp: every field of a job that squeue can print.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/time.hpp"
#include "model/job.hpp"
#include "view/table/field_table.hpp"

namespace switchyard::view {

// What printing depends on besides the record.
struct ViewContext {
    Instant now{};
    std::string time_format;        // SLURM_TIME_FORMAT
    bool convert_units = true;      // --noconvert turns it off.
    bool expand_patterns = false;   // Names of files with their patterns filled in.
    std::size_t elements_max = 64;  // SLURM_BITSTR_LEN; 0: never cut.
    std::string cluster;
};

struct JobRow {
    const model::Job& job;
    const ViewContext& view;
    std::optional<std::uint32_t> element;    // --array: this element of a pending block.
    const std::string* partition = nullptr;  // --priority: this one of several partitions.
};

std::span<const Field<JobRow>> job_fields();
// What squeue --helpFormat and --helpformat list, in their order.
std::span<const std::string_view> job_field_names();
inline constexpr std::string_view kJobHelpLetters =
    "aFKBokOIXEexfGgiAWcmdjyNCDhPpQqrRnvYzsHSTtVJLlMUuwZ";

// The formats squeue uses unless told otherwise.
inline constexpr std::string_view kJobFormat = "%.18i %.9P %.8j %.8u %.2t %.10M %.6D %R";
inline constexpr std::string_view kJobFormatLong = "%.18i %.9P %.8j %.8u %.8T %.10M %.9l %.6D %R";
inline constexpr std::string_view kJobFormatStart = "%.18i %.9P %.8j %.8u %.2t %.19S %.6D %20Y %R";

// The fields that a job still has when only a line is asked for (client::JobsQuery::brief).
inline constexpr std::string_view kBriefLetters = "eijlprtuADFKLMNPQRSTUV";

// "%all": every letter, with a bar between.
std::vector<Column> all_columns(std::span<const Field<JobRow>> fields);

// Shared with the view of steps.
std::string duration_text(Seconds duration);  // "INVALID" when it cannot be.
std::string moment_text(const std::optional<Instant>& moment, const ViewContext& view,
                        std::string_view none);
std::string or_null(const std::string& text);  // "(null)" for nothing, as Slurm prints it.
// "gres/gpu:2", or "N/A".
std::string tres_list(const std::vector<model::GresRequest>& requests);
std::string memory_text(model::MiB amount, const ViewContext& view);

}  // namespace switchyard::view
