// tres_document.hpp: what can be counted, and how much of it, in the documents of sacct.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/usage.hpp"
#include "view/document.hpp"

namespace switchyard::view {

// A list from "cpu=2,mem=200M,node=1".
void write_tres_list(Document& document, std::string_view key, std::string_view tres);
// Measures of one direction: the extremes with their places, the average, the sum.
void write_measures(Document& document, std::string_view key, const model::StepUsage& usage,
                    bool out);
void write_cpu_time(Document& document, std::string_view key, std::uint64_t micros);

}  // namespace switchyard::view
