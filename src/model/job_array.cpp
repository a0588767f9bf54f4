#include "model/job_array.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace switchyard::model {
namespace {

std::optional<std::uint32_t> parse_u32(std::string_view text) {
    const auto value = parse_uint(text);
    if (!value || *value > UINT32_MAX) return std::nullopt;
    return static_cast<std::uint32_t>(*value);
}

std::optional<StepId> parse_step(std::string_view text) {
    if (equals_ignoring_case(text, "batch")) return kBatchStep;
    if (equals_ignoring_case(text, "extern")) return kExternStep;
    if (equals_ignoring_case(text, "interactive")) return kInteractiveStep;
    const auto number = parse_u32(text);
    if (!number || *number >= kInteractiveStep.value) return std::nullopt;
    return StepId{*number};
}

// What follows '_': "3", "*", "[1-3,7]", "[1-3%2]" (the throttle, as squeue prints it, says nothing
// here).
bool parse_elements(std::string_view text, JobSelector& selector) {
    if (text == "*" || text == "[*]") {
        selector.elements = IndexSet{};
        selector.all_elements = true;
        return true;
    }
    if (text.starts_with('[') && text.ends_with(']')) {
        text = text.substr(1, text.size() - 2);
        const auto array = parse_array(text);
        if (!array) return false;
        selector.elements = array->elements;
        return true;
    }
    const auto element = parse_u32(text);
    if (!element || *element > limits::kArrayElementMax) return false;
    selector.elements = IndexSet::range(*element, *element);
    return true;
}

}  // namespace

Result<ArraySpec> parse_array(std::string_view text) {
    ArraySpec spec;
    std::string_view list = text;
    // The throttle belongs to the whole, wherever it stands.
    std::string without_throttle;
    if (const std::size_t percent = text.find('%'); percent != std::string_view::npos) {
        const std::size_t end = std::min(text.find(',', percent), text.size());
        const auto throttle = parse_u32(text.substr(percent + 1, end - percent - 1));
        if (!throttle) return fail(Errc::InvalidArray);
        spec.throttle = *throttle;
        without_throttle = std::string(text.substr(0, percent)) + std::string(text.substr(end));
        list = without_throttle;
    }
    if (list.empty()) return fail(Errc::InvalidArray);
    const auto elements = parse_index_set(list);
    if (!elements || elements->empty() || elements->back() > limits::kArrayElementMax) {
        return fail(Errc::InvalidArray);
    }
    spec.elements = *elements;
    const std::size_t colon = list.find(':');
    if (colon != std::string_view::npos && list.find(',') == std::string_view::npos) {
        if (const auto step = parse_u32(list.substr(colon + 1))) spec.step = *step;
    }
    return spec;
}

std::string format_pending_elements(const ArrayPlace& place, std::size_t length_max) {
    constexpr std::string_view kCut = "...";
    std::string text = to_string(place.pending);
    if (length_max != 0 && text.size() > length_max) {
        text.resize(length_max > kCut.size() ? length_max - kCut.size() : 0);
        text += kCut;
    }
    if (place.throttle != 0) text += fmt::format("%{}", place.throttle);
    return text;
}

Result<JobSelector> parse_job_selector(std::string_view text) {
    JobSelector selector;
    std::string_view rest = text;
    if (const std::size_t dot = rest.find('.'); dot != std::string_view::npos) {
        selector.step = parse_step(rest.substr(dot + 1));
        if (!selector.step) return fail(Errc::InvalidJobId);
        rest = rest.substr(0, dot);
    }
    if (const std::size_t bar = rest.find('_'); bar != std::string_view::npos) {
        if (!parse_elements(rest.substr(bar + 1), selector)) return fail(Errc::InvalidJobId);
        rest = rest.substr(0, bar);
    }
    // The parts of a heterogeneous job have ids that follow its own.
    std::uint64_t offset = 0;
    if (const std::size_t plus = rest.find('+'); plus != std::string_view::npos) {
        const auto given = parse_u32(rest.substr(plus + 1));
        if (!given || selector.elements) return fail(Errc::InvalidJobId);
        offset = *given;
        selector.component = true;
        rest = rest.substr(0, plus);
    }
    const auto id = parse_u32(rest);
    if (!id || *id == 0 || *id + offset > UINT32_MAX) return fail(Errc::InvalidJobId);
    selector.job = JobId{static_cast<std::uint32_t>(*id + offset)};
    return selector;
}

}  // namespace switchyard::model
