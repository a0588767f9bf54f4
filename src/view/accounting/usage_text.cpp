#include "view/accounting/usage_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "model/time_format.hpp"

namespace switchyard::view {
namespace {

std::uint64_t value_of(const model::UsageMeasure& measure, Figure figure) {
    switch (figure) {
        case Figure::Average:
            return measure.average();
        case Figure::Max:
            return measure.max.value;
        case Figure::Min:
            return measure.min.value;
        case Figure::Total:
            return measure.total;
    }
    return 0;
}

const model::UsageMark& mark_of(const model::UsageMeasure& measure, Figure figure) {
    return figure == Figure::Min ? measure.min : measure.max;
}

std::string cpu_text(std::uint64_t millis) {
    return model::format_duration(Seconds{static_cast<std::int64_t>(millis / 1000)});
}

std::string value_text(const model::UsageMeasure& measure, Figure figure, const Units& units) {
    const std::uint64_t value = value_of(measure, figure);
    // Joules, watts and percent are told in full.
    constexpr std::string_view kPlain[] = {"energy", "gres/gpupower", "gres/gpuutil"};
    if (std::ranges::find(kPlain, measure.name) != std::end(kPlain)) return fmt::to_string(value);
    return measure.name == "cpu" ? cpu_text(value) : amount_text(value, 0, units);
}

template <class Text>
std::string list_text(const model::StepUsage& usage, bool out, Text text) {
    std::vector<std::string> parts;
    for (const model::UsageMeasure& measure : usage.measures) {
        if (measure.out == out && is_tres(measure))
            parts.push_back(measure.name + "=" + text(measure));
    }
    std::ranges::sort(parts);
    return join(parts, ",");
}

}  // namespace

std::string figure_text(const model::StepUsage& usage, std::string_view name, bool out,
                        Figure figure, const Units& units) {
    const model::UsageMeasure* measure = model::find_measure(usage, name, out);
    return measure == nullptr ? std::string() : value_text(*measure, figure, units);
}

std::string megabytes_text(const model::StepUsage& usage, std::string_view name, bool out,
                           Figure figure) {
    constexpr double kMega = 1024 * 1024;
    const model::UsageMeasure* measure = model::find_measure(usage, name, out);
    if (measure == nullptr) return {};
    return fmt::format("{:.2f}M", static_cast<double>(value_of(*measure, figure)) / kMega);
}

std::string place_text(const model::StepUsage& usage, std::string_view name, bool out,
                       Figure figure, Where where) {
    const model::UsageMeasure* measure = model::find_measure(usage, name, out);
    if (measure == nullptr) return {};
    const model::UsageMark& mark = mark_of(*measure, figure);
    return where == Where::Node ? mark.node : fmt::to_string(mark.task);
}

std::string figures_text(const model::StepUsage& usage, bool out, Figure figure,
                         const Units& units) {
    return list_text(usage, out, [&](const model::UsageMeasure& measure) {
        return value_text(measure, figure, units);
    });
}

std::string places_text(const model::StepUsage& usage, bool out, Figure figure, Where where) {
    return list_text(usage, out, [&](const model::UsageMeasure& measure) {
        const model::UsageMark& mark = mark_of(measure, figure);
        return where == Where::Node ? mark.node : fmt::to_string(mark.task);
    });
}

bool is_tres(const model::UsageMeasure& measure) { return measure.name != model::kFrequency; }

std::uint64_t average_khz(const model::StepUsage& usage) {
    const model::UsageMeasure* measure = model::find_measure(usage, model::kFrequency);
    return measure == nullptr ? 0 : measure->average();
}

std::string frequency_text(const model::StepUsage& usage, const Units& units) {
    return thousands_text(average_khz(usage), units);
}

}  // namespace switchyard::view
