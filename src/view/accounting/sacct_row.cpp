#include "view/accounting/sacct_row.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/gres.hpp"
#include "view/job/job_facts.hpp"

namespace switchyard::view {
namespace {

std::optional<Instant> within(std::optional<Instant> moment, const SacctView& view) {
    if (!moment) return moment;
    if (view.earliest && *moment < *view.earliest) return view.earliest;
    if (view.latest && *moment > *view.latest) return view.latest;
    return moment;
}

// The end of the run; none before it has ended.
std::optional<Instant> real_end(const SacctRow& row) {
    if (row.step != nullptr) {
        return row.step->end ? std::optional(row.step->end->ended) : std::nullopt;
    }
    return model::outcome_of(row.job) != nullptr ? model::end_of(row.job) : std::nullopt;
}

}  // namespace

std::optional<Instant> started(const SacctRow& row) {
    if (row.step != nullptr) return within(model::start_of(*row.step), row.view);
    return within(model::start_of(row.job), row.view);
}

std::optional<Instant> ended(const SacctRow& row) {
    const auto end = real_end(row);
    if (!end && row.view.latest && started(row) && *row.view.latest < row.view.now)
        return row.view.latest;
    return within(end, row.view);
}

Seconds suspended(const SacctRow& row) {
    const model::Running* run = model::run_of(row.job);
    if (run == nullptr) return Seconds{0};
    Seconds sum = run->suspended_for;
    if (const auto* now = std::get_if<model::Suspended>(&row.job.phase))
        sum += whole_seconds(row.view.now) - whole_seconds(now->since);
    return sum;
}

Seconds elapsed(const SacctRow& row) {
    const auto start = started(row);
    if (!start) return Seconds{0};
    const Instant end = ended(row).value_or(row.view.now);
    return std::max(whole_seconds(end) - whole_seconds(*start) - suspended(row), Seconds{0});
}

std::uint32_t allocated_cpus(const SacctRow& row) {
    if (row.step != nullptr) {
        std::uint32_t cpus = 0;
        for (const model::StepNode& node : row.step->layout.nodes) cpus += node.grant.cpus;
        return cpus;
    }
    const model::Allocation* allocation = model::allocation_of(row.job);
    return allocation == nullptr ? 0 : allocation->cpus();
}

model::JobState state_of(const SacctRow& row) {
    if (row.step == nullptr) return model::base_state_of(row.job);
    const model::JobState state = model::state_of(*row.step);
    const bool frozen = std::holds_alternative<model::Suspended>(row.job.phase);
    return frozen && state == model::JobState::Running ? model::JobState::Suspended : state;
}

std::string state_text(const SacctRow& row) {
    std::string text(model::long_name(state_of(row)));
    const model::Outcome* outcome = model::outcome_of(row.job);
    if (row.step == nullptr && outcome != nullptr && outcome->cancelled_by &&
        outcome->state == model::JobState::Cancelled) {
        text += fmt::format(" by {}", *outcome->cancelled_by);
    }
    return text;
}

// A run that was ended from outside has no exit of its own in the history; how its script took the
// signal stands in the batch step.
model::ExitStatus exit_of(const SacctRow& row) {
    if (row.step != nullptr) return row.step->end ? row.step->end->exit : model::ExitStatus{};
    const model::Outcome* outcome = model::outcome_of(row.job);
    if (outcome == nullptr || outcome->state == model::JobState::Cancelled ||
        outcome->state == model::JobState::Timeout) {
        return {};
    }
    return outcome->exit;
}

model::StepUsage usage_of(const SacctRow& row) {
    if (row.step != nullptr) return row.step->usage;
    model::StepUsage sum;
    for (const model::Step& step : row.steps) {
        sum.user_us += step.usage.user_us;
        sum.system_us += step.usage.system_us;
    }
    return sum;
}

std::optional<std::uint64_t> joules_of(std::span<const model::Step> steps) {
    std::optional<std::uint64_t> sum;
    for (const model::Step& step : steps) {
        const model::UsageMeasure* energy = model::find_measure(step.usage, "energy");
        if (energy != nullptr) sum = sum.value_or(0) + energy->total;
    }
    return sum;
}

std::string job_tres(const SacctRow& row) {
    std::string tres = allocated_tres(row.job);
    if (!row.joules) return tres;
    const std::size_t at = tres.find("node=");
    tres.insert(at == std::string::npos ? 0 : at, fmt::format("energy={},", *row.joules));
    return tres;
}

std::string step_tres(const model::Step& step) {
    std::uint64_t cpus = 0;
    model::MiB memory;
    std::vector<model::GresGrant> gres;
    for (const model::StepNode& node : step.layout.nodes) {
        cpus += node.grant.cpus;
        memory += node.grant.memory;
        model::add_grants(gres, node.grant.gres);
    }
    return model::format_tres(cpus, memory, step.layout.nodes.size(), gres);
}

Seconds planned(const SacctRow& row) {
    const auto eligible = eligible_time(row.job);
    if (!eligible) return Seconds{0};
    const bool over = model::outcome_of(row.job) != nullptr;
    const Instant until =
        model::start_of(row.job).value_or(over ? *model::end_of(row.job) : row.view.now);
    return std::max(whole_seconds(until) - whole_seconds(*eligible), Seconds{0});
}

std::string tres_part(std::string_view tres, std::string_view name) {
    for (const std::string_view part : split(tres, ',')) {
        if (part.starts_with(name) && part.substr(name.size()).starts_with('='))
            return std::string(part.substr(name.size() + 1));
    }
    return {};
}

std::uint64_t requested_cpus(const SacctRow& row) {
    if (row.step != nullptr) return allocated_cpus(row);
    return parse_uint(tres_part(requested_tres(row.job), "cpu")).value_or(0);
}

std::string layout_text(const SacctRow& row) {
    if (row.step == nullptr) return {};
    const std::string text = to_string(row.step->spec.distribution);
    const bool numbered = row.step->key.step != kBatchStep;
    if (text.empty()) return numbered ? "Block" : "Unknown";
    std::string word = text.substr(0, text.find_first_of(":="));
    if (!word.empty() && word[0] >= 'a' && word[0] <= 'z')
        word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
}

std::string stream_pattern(const SacctRow& row, Stream stream) {
    const model::JobSpec& spec = *row.job.spec;
    if (spec.kind != model::JobKind::Batch) return {};
    if (stream == Stream::In) return spec.std_in.empty() ? "/dev/null" : spec.std_in;
    if (stream == Stream::Err || !spec.std_out.empty())
        return stream == Stream::Err ? spec.std_err : spec.std_out;
    return row.job.array ? "slurm-%A_%a.out" : "slurm-%j.out";
}

}  // namespace switchyard::view
