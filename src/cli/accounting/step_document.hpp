// step_document.hpp: a step within its job, as sacct shows it with --json and --yaml.
#pragma once

#include <cstdint>
#include <string_view>

#include "cli/accounting/sacct_row.hpp"
#include "cli/format/document.hpp"

namespace switchyard::cli::accounting {

// The keys of a step, into a map that is open; the row is that of the step.
void write_step(format::Document& document, const SacctRow& row);
// A list from "cpu=2,mem=200M,node=1".
void write_tres_list(format::Document& document, std::string_view key, std::string_view tres);
void write_cpu_time(format::Document& document, std::string_view key, std::uint64_t micros);

}  // namespace switchyard::cli::accounting
