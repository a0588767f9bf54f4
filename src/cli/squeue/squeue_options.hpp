// squeue_options.hpp: what squeue was asked for, from its command line and the SQUEUE_*
// environment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/document_option.hpp"
#include "client/client.hpp"
#include "view/job/job_table.hpp"

namespace switchyard::cli {

struct SqueueOptions {
    client::JobsQuery query;
    view::TableRequest table;
    view::JobTable::Split split;
    view::ViewContext view;  // As the command line and the environment want it.
    DocumentWish document;
    bool header = true;
    bool date = false;  // Before the header: --long and --iterate.
    bool steps = false;
    bool matches_nothing = false;          // Every user asked for is unknown.
    std::optional<std::uint32_t> not_uid;  // --notme
    std::optional<Seconds> running_over, running_under;
    int iterate_seconds = 0;
    int verbose = 0;
    std::vector<std::string> licenses;
    std::vector<model::JobSelector> step_ids;  // --steps=12.0,13
    std::string clusters;
};

// What to do, or the exit code when everything is already said.
struct SqueueParsed {
    SqueueOptions options;
    std::optional<int> exit_code;
};
SqueueParsed parse_squeue(int argc, char** argv);

// Whether a job of the answer is wanted, where the controller's filter is not the whole of it.
bool is_wanted(const model::Job& job, const SqueueOptions& options, Instant now);

}  // namespace switchyard::cli
