// sacct_document.hpp: a job of the history, with its steps, as sacct --json and --yaml show it.
#pragma once

#include "cli/accounting/sacct_row.hpp"
#include "cli/format/document.hpp"

namespace switchyard::cli::accounting {

// One map of the list "jobs"; the row is that of the job.
void write_history(format::Document& document, const SacctRow& row);

}  // namespace switchyard::cli::accounting
