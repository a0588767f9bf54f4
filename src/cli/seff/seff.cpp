// seff.cpp: how well a job used what it had, in the words of Slurm's own contribution.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/job_ids.hpp"
#include "cli/live_usage.hpp"
#include "cli/message.hpp"
#include "cli/option_table.hpp"
#include "cli/output.hpp"
#include "cli/session.hpp"
#include "model/card_energy.hpp"
#include "model/time_format.hpp"
#include "view/accounting/sacct_row.hpp"
#include "view/job/job_facts.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kProgram = "seff";

struct Typed {
    bool debug = false;
};
const Option<Typed> kOptions[] = {
    {{"debug", 'd', Argument::None, "", "the numbers that it is worked out of"},
     flag<&Typed::debug>},
};
constexpr CommandText kText{.program = kProgram,
                            .operands = "<job>...",
                            .purpose = "How well a job used the processors and memory it had.",
                            .footer = {},
                            .help_letter = 'h',
                            .takes_words = true};

std::string memory_text(double kib) {
    constexpr std::string_view kUnits[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
    std::size_t unit = 0;
    for (; kib >= 1024 && unit + 1 < std::size(kUnits); ++unit) kib /= 1024;
    return fmt::format("{:.2f} {}", kib, kUnits[unit]);
}

double percent(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

// What the steps used together, and the most memory they had at once, as far as that is known: the
// tasks of a step run side by side, the steps mostly one after the other.
struct Efforts {
    std::uint64_t cpu_us = 0, memory = 0;
    bool estimated = false;
    // Of its cards, where somebody looked at them: the most that a step used on average, in percent
    // of one card, and held, in bytes.
    bool cards_seen = false;
    std::uint64_t card_percent = 0, card_memory = 0;
    std::optional<model::CardEnergy> drawn;  // None: they do not tell.
};

Efforts efforts_of(const std::vector<model::Step>& steps, LiveSteps& live) {
    Efforts efforts;
    for (const model::Step& step : steps) {
        const model::StepUsage& usage = step.end ? step.usage : live.usage[step.key];
        efforts.cpu_us += usage.user_us + usage.system_us;
        if (const model::UsageMeasure* cards = model::find_measure(usage, "gres/gpuutil")) {
            efforts.cards_seen = true;
            efforts.card_percent = std::max(efforts.card_percent, cards->total);
        }
        if (const model::UsageMeasure* held = model::find_measure(usage, "gres/gpumem"))
            efforts.card_memory = std::max(efforts.card_memory, held->total);
        model::add_energy(efforts.drawn, usage);
        const model::UsageMeasure* memory = model::find_measure(usage, "mem");
        if (memory == nullptr || memory->total <= efforts.memory) continue;
        efforts.memory = memory->total;
        efforts.estimated = memory->tasks > 1;
    }
    return efforts;
}

void print_memory(const model::Job& job, const Efforts& efforts) {
    print(fmt::format("Memory Utilized: {}{}\n",
                      memory_text(static_cast<double>(efforts.memory) / 1024),
                      efforts.estimated ? " (estimated maximum)" : ""));
    const model::Allocation& allocation = *model::allocation_of(job);
    const auto whole = static_cast<double>(allocation.memory().value) * 1024;
    const bool per_cpu = job.spec->memory.per == model::MemoryRequest::Per::Cpu;
    const auto parts = static_cast<double>(per_cpu ? std::max<std::size_t>(allocation.cpus(), 1)
                                                   : allocation.nodes.size());
    print(fmt::format("Memory Efficiency: {:.2f}% of {} ({}/{})\n",
                      percent(static_cast<double>(efforts.memory) / 1024, whole),
                      memory_text(whole), memory_text(whole / parts), per_cpu ? "core" : "node"));
}

// The contribution knows nothing of cards: these lines come behind its own.
void print_cards(const model::Allocation& allocation, const Efforts& efforts) {
    if (!efforts.cards_seen) return;
    std::size_t cards = 0;
    for (const model::NodeGrant& grant : allocation.nodes) {
        for (const model::GresGrant& gres : grant.gres) {
            cards += gres.name == "gpu" ? gres.count : gres.shares.size();
        }
    }
    print(fmt::format(
        "GPU Efficiency: {:.2f}% of {} GPU{}\n",
        percent(static_cast<double>(efforts.card_percent), 100.0 * static_cast<double>(cards)),
        cards, cards == 1 ? "" : "s"));
    print(fmt::format("GPU Memory Utilized: {}\n",
                      memory_text(static_cast<double>(efforts.card_memory) / 1024)));
}

// Watts on average over the whole run, which is what the electricity costs; the most at one moment
// is that of one node.
void print_power(const model::Allocation& allocation, const Efforts& efforts, Seconds walltime) {
    if (!efforts.drawn) return;
    const std::string on =
        allocation.nodes.size() > 1 ? " on " + efforts.drawn->most_watts.node : std::string();
    const auto seconds = static_cast<double>(walltime.count());
    const std::string average =
        seconds > 0 ? fmt::format("{:.2f} W average, ",
                                  static_cast<double>(efforts.drawn->joules) / seconds)
                    : std::string();
    print(fmt::format("GPU Energy: {} J\nGPU Power: {}{} W maximum{}\n", efforts.drawn->joules,
                      average, efforts.drawn->most_watts.value, on));
}

void print_job(const model::Job& job, const std::vector<model::Step>& steps, LiveSteps& live,
               const view::SacctView& view, bool debug) {
    const view::SacctRow row{.job = job, .step = nullptr, .steps = steps, .view = view};
    const model::JobSpec& spec = *job.spec;
    const model::JobState state = state_of(row);
    print(fmt::format("Job ID: {}\n", job.id.value));
    if (job.array) {
        print(fmt::format("Array Job ID: {}\n", model::display_id(job)));
    }
    print(fmt::format("Cluster: {}\nUser/Group: {}/{}\n", view.cluster,
                      spec.user.empty() ? fmt::to_string(spec.uid) : spec.user,
                      spec.group.empty() ? fmt::to_string(spec.gid) : spec.group));
    const bool finished = model::is_finished(state);
    print(finished ? fmt::format("State: {} (exit code {})\n", model::long_name(state),
                                 view::exit_of(row).code)
                   : fmt::format("State: {}\n", model::long_name(state)));
    const model::Allocation* allocation = model::allocation_of(job);
    const std::uint32_t cpus = allocation == nullptr ? view::cpu_count(job) : allocation->cpus();
    if (cpus == 1) {
        print("Cores: 1\n");
    } else {
        const std::uint32_t nodes = std::max(view::node_count(job), 1u);
        print(fmt::format("Nodes: {}\nCores per node: {}\n", nodes, cpus / nodes));
    }
    if (allocation == nullptr) {
        print(fmt::format("Efficiency not available for jobs in the {} state.\n",
                          model::long_name(state)));
        return;
    }
    const Efforts efforts = efforts_of(steps, live);
    const Seconds walltime = view::elapsed(row);
    const Seconds core_walltime = walltime * cpus;
    if (debug) {
        print(fmt::format("cpu_us={} mem_bytes={} walltime={} ncpus={}\n", efforts.cpu_us,
                          efforts.memory, walltime.count(), cpus));
    }
    const Seconds used{static_cast<std::int64_t>((efforts.cpu_us + 500'000) / 1'000'000)};
    print(fmt::format("CPU Utilized: {}\n", model::format_duration(used)));
    print(fmt::format("CPU Efficiency: {:.2f}% of {} core-walltime\n",
                      percent(static_cast<double>(efforts.cpu_us) / 1e6,
                              static_cast<double>(core_walltime.count())),
                      model::format_duration(core_walltime)));
    print(fmt::format("Job Wall-clock time: {}\n", model::format_duration(walltime)));
    print_memory(job, efforts);
    print_cards(*allocation, efforts);
    print_power(*allocation, efforts, walltime);
    if (!finished) {
        print(fmt::format("WARNING: Efficiency statistics can be misleading for {} jobs.\n",
                          model::long_name(state)));
    }
}

Status run(Session& session, const model::JobSelector& selector, bool debug, bool& any) {
    client::JobsQuery query;
    query.filter.jobs = {selector};
    query.history = query.all_states = query.with_steps = true;
    SY_TRY(const client::JobsChunk found, client::fetch_jobs(session.connection, query));
    view::SacctView view;
    view.now = found.now;
    view.cluster = session.config.cluster_name;
    for (const model::Job& job : found.jobs) {
        std::vector<model::Step> steps;
        for (const model::Step& step : found.steps) {
            if (step.key.job == job.id && step.key.attempt == job.attempt) steps.push_back(step);
        }
        LiveSteps live;
        SY_CHECK(ask_nodes(session.connection, job, false, live));
        if (any) print("\n");
        any = true;
        print_job(job, steps, live, view, debug);
    }
    return {};
}

int command_main(int argc, char** argv) {
    Typed typed;
    const ParsedLine line = parse_options(kText, kOptions, typed, argc, argv);
    if (line.exit_code) return *line.exit_code;
    if (line.words.empty()) {
        print(usage_of(kText, lines_of(kOptions)));
        return 1;
    }
    auto session = open_session(std::string(kProgram));
    if (!session) {
        say_call_failed(kProgram, "Problem talking to the controller", session.error());
        return 1;
    }
    bool good = true, any = false;
    for (const std::string& word : line.words) {
        const auto ids = parse_job_list(word);
        if (!ids) {
            say_error(kProgram, fmt::format("Invalid job id: {}", word));
            good = false;
            continue;
        }
        for (const model::JobSelector& selector : *ids) {
            bool found = any;
            const Status done = run(*session, selector, typed.debug, found);
            if (!done) say_call_failed(kProgram, "Problem talking to the controller", done.error());
            if (done && found == any) print("Job not found.\n");
            good &= done && found;
            any = found;
        }
    }
    std::fflush(stdout);
    return good ? 0 : 1;
}

}  // namespace

int seff_main(int argc, char** argv) { return command_main(argc, argv); }

}  // namespace switchyard::cli
