// sacct_document.hpp: a job of the history, with its steps, as sacct --json and --yaml show it.
#pragma once

#include "view/accounting/sacct_row.hpp"
#include "view/document.hpp"

namespace switchyard::view {

// One map of the list "jobs"; the row is that of the job.
void write_history(Document& document, const SacctRow& row);

}  // namespace switchyard::view
