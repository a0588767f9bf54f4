// sacct_options.hpp: what sacct was asked for, worked out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/document_option.hpp"
#include "client/client.hpp"
#include "view/accounting/sacct_row.hpp"
#include "view/table/report_table.hpp"

namespace switchyard::cli {

// Two numbers of "4" or "2-8".
struct Range {
    std::uint64_t least = 0, most = UINT64_MAX;
};

struct SacctOptions {
    client::JobsQuery query;
    std::string format{view::kSacctFormat};
    view::ReportStyle style;
    view::SacctView view;
    std::string clusters;
    int verbose = 0;
    bool allocations = false;          // -X: no steps.
    bool each_element = false;         // --array
    std::optional<bool> whole_hetjob;  // Unset: all components if the first is asked for.
    bool scripts = false, environments = false;
    DocumentWish document;

    // What is compared here, because it is no matter of the store.
    Instant from{}, to{};
    bool window_given = false;  // -S or -E.
    std::vector<model::JobState> states;
    std::vector<std::uint32_t> gids;
    std::vector<std::string> constraints, flags, reasons;
    std::optional<Range> nodes, cpus, minutes;
};

// -s, -S, -E and their defaults, and the filters above.
bool is_wanted(const SacctOptions& options, const model::Job& job);
// Of "12.0" only step 0, and no line for the job.
bool is_wanted(const SacctOptions& options, const model::Job& job, const model::Step& step);
bool wants_job_line(const SacctOptions& options, const model::Job& job);
// The components of heterogeneous jobs that are meant along with those that were found.
std::vector<model::JobSelector> companions(const SacctOptions& options,
                                           const std::vector<model::Job>& found);

struct SacctParsed {
    SacctOptions options;
    std::optional<int> exit_code;
};
SacctParsed parse_sacct(int argc, char** argv, Instant now);

// A moment that is past: "08:00" is today's. Says what is wrong with it and returns none.
std::optional<Instant> parse_past(std::string_view text, Instant now);

}  // namespace switchyard::cli
