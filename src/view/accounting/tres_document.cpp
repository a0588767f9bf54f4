#include "view/accounting/tres_document.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "model/size_format.hpp"
#include "view/accounting/usage_text.hpp"

namespace switchyard::view {
namespace {

// The numbers that Slurm's database gives to what it can count.
struct TresNumber {
    std::string_view name;
    std::int64_t id;
};
constexpr std::array<TresNumber, 11> kTres{{{"cpu", 1},
                                            {"mem", 2},
                                            {"energy", 3},
                                            {"node", 4},
                                            {"billing", 5},
                                            {"fs/disk", 6},
                                            {"vmem", 7},
                                            {"pages", 8},
                                            {"gres/gpu", 1001},
                                            {"gres/shard", 1002},
                                            {"gres/mps", 1003}}};
constexpr std::int64_t kOtherTres = 1000;

std::int64_t number_of(std::string_view name) {
    const auto known = std::ranges::find(kTres, name, &TresNumber::name);
    return known == kTres.end() ? kOtherTres : known->id;
}

// "gres/gpu:a100" is type "gres" and name "gpu:a100".
void write_name(Document& document, std::string_view tres) {
    const std::size_t slash = tres.find('/');
    document.text("type", tres.substr(0, slash));
    document.text("name", slash == std::string_view::npos ? "" : tres.substr(slash + 1));
    document.integer("id", number_of(tres));
}

}  // namespace

void write_tres_list(Document& document, std::string_view key, std::string_view tres) {
    document.begin_list(key);
    for (const std::string_view part : split(tres, ',')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view name = part.substr(0, equals), value = part.substr(equals + 1);
        const auto memory = name == "mem" ? model::parse_memory(value)
                                          : Result<model::MiB>(fail(Errc::InvalidArgument));
        document.begin_map();
        write_name(document, name);
        const std::uint64_t count = memory ? memory->value : parse_uint(value).value_or(0);
        document.integer("count", static_cast<std::int64_t>(count));
        document.end();
    }
    document.end();
}

void write_measures(Document& document, std::string_view key, const model::StepUsage& usage,
                    bool out) {
    const auto each = [&](std::string_view name, auto count,
                          const model::UsageMark* (*mark)(const model::UsageMeasure&)) {
        document.begin_list(name);
        for (const model::UsageMeasure& measure : usage.measures) {
            if (measure.out != out || !is_tres(measure)) continue;
            document.begin_map();
            write_name(document, measure.name);
            document.integer("count", static_cast<std::int64_t>(count(measure)));
            if (const model::UsageMark* place = mark(measure)) {
                document.text("node", place->node);
                document.integer("task", place->task);
            }
            document.end();
        }
        document.end();
    };
    using Measure = model::UsageMeasure;
    const auto nowhere = +[](const Measure&) -> const model::UsageMark* { return nullptr; };
    document.begin_map(key);
    each(
        "max", [](const Measure& m) { return m.max.value; },
        +[](const Measure& m) { return &m.max; });
    each(
        "min", [](const Measure& m) { return m.min.value; },
        +[](const Measure& m) { return &m.min; });
    each("average", [](const Measure& m) { return m.average(); }, nowhere);
    each("total", [](const Measure& m) { return m.total; }, nowhere);
    document.end();
}

void write_cpu_time(Document& document, std::string_view key, std::uint64_t micros) {
    constexpr std::uint64_t kPerSecond = 1'000'000;
    document.begin_map(key);
    document.integer("seconds", static_cast<std::int64_t>(micros / kPerSecond));
    document.integer("microseconds", static_cast<std::int64_t>(micros % kPerSecond));
    document.end();
}

}  // namespace switchyard::view
