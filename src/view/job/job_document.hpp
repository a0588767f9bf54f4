// job_document.hpp: a job as --json and --yaml show it.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "model/job.hpp"
#include "model/node.hpp"
#include "model/step.hpp"
#include "view/document.hpp"

namespace switchyard::view {

struct DocumentContext {
    Instant now{};
    std::string cluster;
    // Where known, for what an allocation is and what of it is in use; they must live as long as
    // this.
    std::map<std::string_view, const model::Node*> nodes;
    std::multimap<JobId, const model::Step*> steps;
};

// One map of a list of jobs.
void write_job(Document& document, const model::Job& job, const DocumentContext& context);

// A moment as seconds since 1970; 0 where there is none.
Number moment_number(const std::optional<Instant>& moment);
// In minutes.
Number limit_number(const std::optional<model::TimeLimit>& limit);
void write_exit(Document& document, std::string_view key, const model::ExitStatus& exit);

}  // namespace switchyard::view
