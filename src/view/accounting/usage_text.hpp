// usage_text.hpp: what a step used, as the columns that sacct and sstat share.
#pragma once

#include <string>

#include "model/usage.hpp"
#include "view/accounting/amounts.hpp"

namespace switchyard::view {

enum class Figure { Average, Max, Min, Total };
enum class Where { Node, Task };

// "11716K"; empty when nobody measured it.
std::string figure_text(const model::StepUsage& usage, std::string_view name, bool out,
                        Figure figure, const Units& units);
// In megabytes, whatever unit is asked for: "0.03M".
std::string megabytes_text(const model::StepUsage& usage, std::string_view name, bool out,
                           Figure figure);
std::string place_text(const model::StepUsage& usage, std::string_view name, bool out,
                       Figure figure, Where where);
// "cpu=00:00:01,fs/disk=30226,mem=11716K": all measures of one direction.
std::string figures_text(const model::StepUsage& usage, bool out, Figure figure,
                         const Units& units);
std::string places_text(const model::StepUsage& usage, bool out, Figure figure, Where where);

// Whether it is told among the TRES.
bool is_tres(const model::UsageMeasure& measure);
// How fast the processors of the tasks ran, each task counting alike: kHz, and "2.44M" of them.
std::uint64_t average_khz(const model::StepUsage& usage);
std::string frequency_text(const model::StepUsage& usage, const Units& units);

}  // namespace switchyard::view
