#include "cli/accounting/step_document.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "cli/accounting/usage_text.hpp"
#include "cli/format/job_document.hpp"
#include "cli/format/step_columns.hpp"
#include "model/size_format.hpp"

namespace switchyard::cli::accounting {
namespace {

using format::Document;
using format::Number;

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

// Measures of one direction: the extremes with their places, the average, the sum.
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

void write_times(Document& document, const SacctRow& row) {
    const model::StepUsage& usage = row.step->usage;
    document.begin_map("time");
    document.integer("elapsed", elapsed(row).count());
    document.number("end", format::moment_number(ended(row)));
    document.number("start", format::moment_number(model::start_of(*row.step)));
    document.integer("suspended", suspended(row).count());
    write_cpu_time(document, "system", usage.system_us);
    const auto& limit = row.step->spec.time_limit;
    document.number("limit", limit ? format::limit_number(limit) : Number::unlimited());
    write_cpu_time(document, "total", usage.user_us + usage.system_us);
    write_cpu_time(document, "user", usage.user_us);
    document.end();
}

void write_place(Document& document, const model::Step& step) {
    std::vector<std::string> nodes;
    for (const model::StepNode& node : step.layout.nodes) nodes.push_back(node.grant.node);
    document.begin_map("nodes");
    document.integer("count", static_cast<std::int64_t>(nodes.size()));
    document.text("range", format::step_node_list(step));
    document.texts("list", nodes);
    document.end();
    document.begin_map("tasks");
    document.integer("count", format::extent_of(step).tasks);
    document.end();
    const bool whole = format::is_without_share(step);
    const Number none = whole ? Number::of(0) : Number{};
    document.begin_map("CPU");
    document.begin_map("requested_frequency");
    document.number("min", none);
    document.number("max", none);
    document.end();
    document.text("governor", whole ? "0" : "Unknown");
    document.end();
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

void write_cpu_time(Document& document, std::string_view key, std::uint64_t micros) {
    constexpr std::uint64_t kPerSecond = 1'000'000;
    document.begin_map(key);
    document.integer("seconds", static_cast<std::int64_t>(micros / kPerSecond));
    document.integer("microseconds", static_cast<std::int64_t>(micros % kPerSecond));
    document.end();
}

void write_step(Document& document, const SacctRow& row) {
    const model::Step& step = *row.step;
    write_times(document, row);
    format::write_exit(document, "exit_code", exit_of(row));
    write_place(document, step);
    document.text("kill_request_user", "");
    document.texts("state", {std::string(model::long_name(state_of(row)))});
    document.begin_map("statistics");
    document.begin_map("CPU");
    document.integer("actual_frequency", static_cast<std::int64_t>(average_khz(step.usage)));
    document.end();
    document.begin_map("energy");
    document.number("consumed", Number::of(joules_of({&step, 1}).value_or(0)));
    document.end();
    document.end();
    document.begin_map("step");
    document.text("id", format::raw_step_id(step));
    document.text("name", step.spec.name);
    for (const std::string_view key :
         {"stderr", "stdin", "stdout", "stderr_expanded", "stdin_expanded", "stdout_expanded"}) {
        document.text(key, "");
    }
    document.end();
    document.text("submit_line", step.spec.submit_line);
    document.begin_map("task");
    document.text("distribution", layout_text(row));
    document.end();
    document.begin_map("tres");
    write_measures(document, "requested", step.usage, false);
    write_measures(document, "consumed", step.usage, true);
    write_tres_list(document, "allocated",
                    sorted_tres(step_tres(step), false, {.convert = false, .fixed = std::nullopt}));
    document.end();
}

}  // namespace switchyard::cli::accounting
