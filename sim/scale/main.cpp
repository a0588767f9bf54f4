// main.cpp: the core at sizes that no test machine can hold.
//
//   switchyard_scale --pass --jobs 100000 --nodes 10000    one pass, one submission, one completion
//   switchyard_scale --flow --jobs 1000000 --nodes 10000   a site's days, from arrival to end
//   switchyard_scale --memory 1000000                      what a waiting job costs in bytes
//
// Speed is reported, never asserted.

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "sim/scale/flow.hpp"
#include "sim/scale/swf.hpp"

namespace switchyard::sim::scale {
namespace {

constexpr Instant kBegin = Instant{Seconds{1'700'000'000}};

struct Options {
    enum class Mode { Pass, Flow, Memory } mode = Mode::Pass;
    std::uint32_t jobs = 100000, nodes = 10000;
    std::optional<std::uint32_t> planned;
    std::uint64_t seed = 1;
    double load = 1.0, failures = 20;
    Mix mix = Mix::Site;
    std::string policy = "backfill", trace;
    bool json = false, progress = false;
};

void usage() {
    std::fprintf(stderr,
                 "switchyard_scale --pass | --flow | --memory JOBS\n"
                 "  --jobs N --nodes M --seed S --mix site|cards --load 1.0 --failures-per-day 20\n"
                 "  --policy backfill|easy|fifo   reservations for the top of the queue, for the\n"
                 "                                first job alone, or nobody passes anybody\n"
                 "  --planned N                   bf_max_job_test: so many jobs have places kept\n"
                 "  --swf FILE                    a recorded workload instead (--flow)\n"
                 "  --json --progress\n");
    std::exit(2);
}

template <class Number>
Number number(const char* text) {
    Number value{};
    const std::string_view view = text == nullptr ? "" : text;
    const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
    if (view.empty() || error != std::errc{} || end != view.data() + view.size()) usage();
    return value;
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        const auto value = [&] { return ++i < argc ? argv[i] : nullptr; };
        if (name == "--pass")
            options.mode = Options::Mode::Pass;
        else if (name == "--flow")
            options.mode = Options::Mode::Flow;
        else if (name == "--memory") {
            options.mode = Options::Mode::Memory;
            options.jobs = number<std::uint32_t>(value());
        } else if (name == "--jobs")
            options.jobs = number<std::uint32_t>(value());
        else if (name == "--nodes")
            options.nodes = number<std::uint32_t>(value());
        else if (name == "--planned")
            options.planned = number<std::uint32_t>(value());
        else if (name == "--seed")
            options.seed = number<std::uint64_t>(value());
        else if (name == "--load")
            options.load = number<double>(value());
        else if (name == "--failures-per-day")
            options.failures = number<double>(value());
        else if (name == "--json")
            options.json = true;
        else if (name == "--progress")
            options.progress = true;
        else if (name == "--mix") {
            const char* mix = value();
            if (mix == nullptr) usage();
            options.mix = std::string_view(mix) == "cards" ? Mix::Cards : Mix::Site;
        } else if (name == "--policy" || name == "--swf") {
            const char* text = value();
            if (text == nullptr) usage();
            (name == "--swf" ? options.trace : options.policy) = text;
        } else
            usage();
    }
    if (options.jobs == 0 || options.nodes == 0 || !(options.load > 0)) usage();
    return options;
}

void set_policy(core::Settings& settings, const Options& options) {
    const std::string& policy = options.policy;
    if (options.planned) settings.backfill_jobs_max = *options.planned;
    if (policy == "fifo")
        settings.backfill = false;
    else if (policy == "easy")
        settings.backfill_jobs_max = 1;
    else if (policy != "backfill")
        usage();
}

// A machine that is full, with so many behind: what one thing more costs.
void measure_pass(const Options& options, Report& report) {
    FlowOptions flow_options;
    flow_options.settings = settings_for(options.nodes, options.mix);
    set_policy(flow_options.settings, options);
    Flow flow(std::move(flow_options), kBegin);
    Source source(options.seed, options.nodes, options.mix);
    const std::uint64_t before = allocated_bytes();
    while (flow.cluster().jobs().size() < options.jobs + flow.started()) {
        flow.submit(source.next());
    }
    report.add("pending_jobs", options.jobs);
    report.add("running_jobs", static_cast<double>(flow.started()));
    report.add("fill_seconds", flow.turns().sum() / 1e6);
    report.add("decisions_per_second",
               1e6 * static_cast<double>(flow.turns().count()) / flow.turns().sum());
    report.add("memory_mb", static_cast<double>(allocated_bytes() - before) / 1e6);
    // A plan and all that can start beside it; each of its turns is a pause for everybody else.
    Distribution plans, plan_turns;
    for (int round = 0; round < 5; ++round) {
        flow.submit(source.next());
        flow.turn(flow.end_of(flow.any_running()));
        const Distribution turns = flow.pass_time(flow.now() + Seconds{31});
        plans.add(turns.sum());
        plan_turns.add(turns.most());
    }
    report.add("plan_us", plans);
    report.add("plan_turn_us", plan_turns);
    Distribution submits, ends, wide_ends;
    for (int i = 0; i < 2000; ++i) {
        submits.add(flow.submit(source.next()));
    }
    std::vector<JobId> narrow, wide;
    for (const auto& [id, job] : flow.cluster().jobs()) {
        if (!std::holds_alternative<model::Running>(job.phase)) continue;
        (model::allocation_of(job)->nodes.size() > 1 ? wide : narrow).push_back(id);
    }
    for (std::size_t i = 0; i < narrow.size(); i += std::max<std::size_t>(1, narrow.size() / 500))
        ends.add(flow.turn(flow.end_of(narrow[i])));
    for (std::size_t i = 0; i < wide.size(); i += std::max<std::size_t>(1, wide.size() / 100)) {
        wide_ends.add(flow.turn(flow.end_of(wide[i])));
        flow.pass_time(flow.now());
    }
    report.add("submission_us", submits);
    report.add("completion_us", ends);
    report.add("wide_completion_us", wide_ends);
}

void measure_flow(const Options& options, Report& report) {
    FlowOptions flow_options;
    flow_options.node_failures_per_day = options.failures;
    flow_options.progress = options.progress;
    std::unique_ptr<Stream> stream;
    if (options.trace.empty()) {
        stream = site_stream(
            {options.seed, options.jobs, options.nodes, options.load, options.mix, kBegin});
        flow_options.settings = settings_for(options.nodes, options.mix);
    } else {
        auto trace = read_swf(options.trace, options.jobs, options.load, kBegin);
        if (!trace) {
            std::fprintf(stderr, "switchyard_scale: %s\n", trace.error().message.c_str());
            std::exit(1);
        }
        flow_options.settings = settings_for(trace->nodes, trace->cores_per_node, Mix::Plain);
        stream = std::move(trace->stream);
    }
    set_policy(flow_options.settings, options);
    Flow flow(std::move(flow_options), kBegin);
    const Stopwatch watch;
    flow.run(*stream);
    flow.report(report);
    if (!flow.all_ended()) {
        std::fprintf(stderr, "switchyard_scale: not every job came to its end\n");
        std::exit(1);
    }
    report.add("cpu_seconds", watch.microseconds() / 1e6);
}

void measure_memory(const Options& options, Report& report) {
    FlowOptions flow_options;
    flow_options.settings = settings_for(10, options.mix);
    Flow flow(std::move(flow_options), kBegin);
    Source source(options.seed, 80, options.mix);
    const std::uint64_t before = allocated_bytes();
    Distribution submits;
    for (std::uint32_t i = 0; i < options.jobs; ++i) {
        submits.add(flow.submit_unseen(source.next()));
    }
    const auto bytes = static_cast<double>(allocated_bytes() - before);
    report.add("jobs", static_cast<double>(flow.cluster().jobs().size()));
    report.add("memory_mb", bytes / 1e6);
    report.add("bytes_per_job", bytes / static_cast<double>(flow.cluster().jobs().size()));
    report.add("submission_us", submits);
}

}  // namespace
}  // namespace switchyard::sim::scale

int main(int argc, char** argv) {
    using namespace switchyard::sim::scale;
    const Options options = parse(argc, argv);
    Report report;
    switch (options.mode) {
        case Options::Mode::Pass:
            measure_pass(options, report);
            break;
        case Options::Mode::Flow:
            measure_flow(options, report);
            break;
        case Options::Mode::Memory:
            measure_memory(options, report);
            break;
    }
    report.print(options.json);
    return 0;
}
