#include "cli/srun/parts.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "options/het.hpp"
#include "options/parse.hpp"

namespace switchyard::cli {
namespace {

using options::Command;
using options::Fault;
using options::JobRequest;
using options::Outcome;
using options::Surroundings;

// One command in one group; the request begins as `request` is.
Outcome understand_one(const std::vector<std::string>& words, Launchable& part) {
    std::size_t operands_at = words.size();
    if (Outcome fault = apply_environment(part.request, part.world)) return fault;
    if (Outcome fault = apply_words(part.request, words, options::Source::CommandLine, part.world,
                                    &operands_at))
        return fault;
    if (part.request.ask.help || part.request.ask.usage || part.request.ask.version) return {};
    if (Outcome fault = finish(part.request, part.world)) return fault;
    part.argv.assign(words.begin() + static_cast<std::ptrdiff_t>(operands_at), words.end());
    return {};
}

// The groups that a component names; none: it names none.
Outcome groups_of(const std::vector<std::string>& words, const Surroundings& surroundings,
                  std::vector<std::uint32_t>& groups) {
    JobRequest trial;
    trial.command = Command::Srun;
    if (Outcome fault =
            apply_words(trial, words, options::Source::CommandLine, surroundings, nullptr))
        return fault;
    if (auto named = options::parse_het_groups(trial.launch.het_group)) groups = *std::move(named);
    return {};
}

}  // namespace

Outcome understand_parts(const std::vector<std::string>& words, const Surroundings& surroundings,
                         std::vector<Launchable>& parts) {
    options::Line line;
    if (Outcome fault = split_line(Command::Srun, words, surroundings, line)) return fault;
    const auto size_text = surroundings.variable("SLURM_HET_SIZE");
    const auto size = size_text ? parse_uint(*size_text) : std::nullopt;
    const bool several = line.components.size() > 1;
    if (several && !size && surroundings.variable("SLURM_JOB_ID")) {
        return Fault{Fault::Kind::Fatal,
                     "components separated by ':' need a heterogeneous job around them"};
    }
    for (std::size_t i = 0; i < line.components.size(); ++i) {
        std::vector<std::uint32_t> groups;
        if (Outcome fault = groups_of(line.components[i], surroundings, groups)) return fault;
        const bool named = !groups.empty();
        if (!named) groups = {static_cast<std::uint32_t>(i)};
        JobRequest base;
        base.command = Command::Srun;
        if (i > 0) base = next_component(parts.back().request);
        for (const std::uint32_t group : groups) {
            if (size && group >= *size) {
                return Fault{
                    Fault::Kind::Fatal,
                    fmt::format("Attempt to run a job step with het group value of {}, but "
                                "the job allocation has maximum value of {}",
                                group, *size - 1)};
            }
            Launchable part{.request = base, .argv = {}};
            part.world = size ? of_group(surroundings, group) : surroundings;
            if (Outcome fault = understand_one(line.components[i], part)) return fault;
            // --jobid names the whole: its components follow one another.
            auto& job = part.request.ask.job_id;
            if (named && !size && job) job->value += group;
            parts.push_back(std::move(part));
        }
    }
    return {};
}

}  // namespace switchyard::cli
