#include "model/usage.hpp"

#include <algorithm>
#include <tuple>

namespace switchyard::model {
namespace {

UsageMeasure& measure(StepUsage& usage, std::string_view name, bool out) {
    const auto at = std::ranges::lower_bound(
        usage.measures, std::tuple(name, out), {},
        [](const UsageMeasure& each) { return std::tuple(std::string_view(each.name), each.out); });
    if (at != usage.measures.end() && at->name == name && at->out == out) return *at;
    UsageMeasure fresh;
    fresh.name = std::string(name);
    fresh.out = out;
    return *usage.measures.insert(at, std::move(fresh));
}

void widen(UsageMeasure& to, const UsageMark& max, const UsageMark& min) {
    if (to.tasks == 0 || max.value > to.max.value) to.max = max;
    if (to.tasks == 0 || min.value < to.min.value) to.min = min;
}

}  // namespace

void add(StepUsage& to, std::string_view name, bool out, const UsageMark& part) {
    UsageMeasure& sum = measure(to, name, out);
    widen(sum, part, part);
    sum.total += part.value;
    ++sum.tasks;
}

void merge(StepUsage& to, const StepUsage& from) {
    to.user_us += from.user_us;
    to.system_us += from.system_us;
    for (const UsageMeasure& each : from.measures) {
        UsageMeasure& sum = measure(to, each.name, each.out);
        widen(sum, each.max, each.min);
        sum.total += each.total;
        sum.tasks += each.tasks;
    }
}

const UsageMeasure* find_measure(const StepUsage& usage, std::string_view name, bool out) {
    const auto at = std::ranges::find_if(usage.measures, [&](const UsageMeasure& each) {
        return each.name == name && each.out == out;
    });
    return at == usage.measures.end() ? nullptr : &*at;
}

}  // namespace switchyard::model
