// history: how long the store takes to answer sacct with very many finished jobs.
//
//   history [--jobs N] [--users N] [--folder DIR]     (default: a million of a hundred users, in
//   /tmp)
//
// It makes a database of its own: one job a second, each with its batch step, one of twenty failed.
// Each question is asked as the controller asks it: first which jobs, then their records chunk by
// chunk, steps included. The database is removed at the end.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace {

namespace model = switchyard::model;
namespace store = switchyard::store;
using switchyard::Instant;
using switchyard::JobId;
using switchyard::Seconds;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kFirstEnd = 1'700'000'000;
constexpr std::size_t kRowsPerCommit = 5'000;

struct Options {
    std::uint32_t jobs = 1'000'000, users = 100;
    std::string folder = "/tmp";
};

[[noreturn]] void die(const std::string& why) {
    std::fprintf(stderr, "history: %s\n", why.c_str());
    std::exit(1);
}

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string_view name = argv[i];
        const auto number = static_cast<std::uint32_t>(std::strtoul(argv[i + 1], nullptr, 10));
        if (name == "--jobs") {
            options.jobs = number;
        } else if (name == "--users") {
            options.users = std::max(number, 1u);
        } else if (name == "--folder") {
            options.folder = argv[i + 1];
        } else {
            die("unknown option " + std::string(name));
        }
    }
    return options;
}

Instant at(std::int64_t seconds) { return Instant{Seconds{seconds}}; }

model::Job finished(std::uint32_t id, std::uint32_t users) {
    model::JobSpec spec;
    spec.user = "user" + std::to_string(id % users);
    spec.uid = 10'000 + id % users;
    spec.name = "job" + std::to_string(id % 1000);
    spec.tasks = 4;
    spec.work_dir = "/home/" + spec.user + "/project";
    spec.submit_line = "sbatch train.sh --epochs 10";
    model::Running run;
    run.started = at(kFirstEnd + id - 60);
    run.allocation.nodes.push_back({.node = "n" + std::to_string(id % 500),
                                    .cores = model::IndexSet::range(0, 3),
                                    .cpus = 4,
                                    .tasks = 4,
                                    .memory = {400},
                                    .gres = {}});
    model::Outcome outcome;
    outcome.state = id % 20 == 0 ? model::JobState::Failed : model::JobState::Completed;
    model::Job job;
    job.id = JobId{id};
    job.spec = std::make_shared<const model::JobSpec>(std::move(spec));
    job.partition = id % 4 == 0 ? "gpu" : "debug";
    job.submitted = run.started - Seconds{5};
    job.eligible = job.submitted;
    job.phase = model::Ended{.run = run, .ended = at(kFirstEnd + id), .outcome = outcome};
    return job;
}

model::Step batch_step(const model::Job& job) {
    model::Step step;
    step.key = {.job = job.id, .attempt = job.attempt, .step = switchyard::kBatchStep};
    step.spec.name = "batch";
    const model::Running& run = *model::run_of(job);
    step.layout.nodes.push_back({.grant = run.allocation.nodes.front(), .tasks = {0}});
    step.started = run.started;
    step.end = model::StepEnd{
        .ended = *model::end_of(job), .state = model::JobState::Completed, .exit = {}};
    const std::string& node = run.allocation.nodes.front().node;
    for (const char* name : {"cpu", "mem", "pages", "vmem", "fs/disk"})
        model::add(step.usage, name, false, {.value = 123'456'789, .node = node, .task = 0});
    return step;
}

void fill(store::Store& to, const Options& options) {
    const auto begin = Clock::now();
    store::Batch batch;
    store::RowEncoder encoder;
    for (std::uint32_t id = 1; id <= options.jobs; ++id) {
        const model::Job job = finished(id, options.users);
        batch.rows.push_back(encoder.row(job));
        batch.rows.push_back(store::RowEncoder::row(batch_step(job)));
        if (batch.rows.size() < 2 * kRowsPerCommit && id != options.jobs) continue;
        if (const auto done = to.commit(batch); !done) die(done.error().message);
        batch = {};
    }
    const std::chrono::duration<double> took = Clock::now() - begin;
    std::printf("%u jobs written in %.1f s\n", options.jobs, took.count());
}

// One question, three times; the first one may have to read the disk.
void ask(store::Reader& reader, const char* what, const store::HistoryQuery& query) {
    double best_find = 1e9, best_all = 1e9;
    std::size_t count = 0;
    for (int round = 0; round < 3; ++round) {
        const auto begin = Clock::now();
        const auto ids = reader.find(query);
        if (!ids) die(ids.error().message);
        const auto found = Clock::now();
        count = ids->size();
        for (std::size_t place = 0; place < count;
             place += switchyard::limits::kJobsPerReplyChunk) {
            const std::size_t part =
                std::min(switchyard::limits::kJobsPerReplyChunk, count - place);
            const auto chunk = reader.fetch(std::span(*ids).subspan(place, part), true);
            if (!chunk) die(chunk.error().message);
        }
        const std::chrono::duration<double, std::milli> find = found - begin,
                                                        all = Clock::now() - begin;
        best_find = std::min(best_find, find.count());
        best_all = std::min(best_all, all.count());
    }
    std::printf("%-48s %9zu jobs %10.2f ms found %10.2f ms read\n", what, count, best_find,
                best_all);
}

void measure(store::Reader& reader, const Options& options) {
    const std::int64_t last = kFirstEnd + options.jobs;
    const auto since = [&](std::int64_t seconds) { return at(last - seconds); };
    constexpr std::int64_t kHour = 3600, kDay = 24 * kHour;
    ask(reader, "one job by its id (-j)", {.jobs = {JobId{options.jobs / 2}}});
    ask(reader, "a user's last day (-u -S)", {.uids = {10'007}, .from = since(kDay)});
    ask(reader, "everybody's last hour (-a -S)", {.from = since(kHour)});
    // Long ago: everything that ended later is no part of the answer.
    const Instant then = at(kFirstEnd + options.jobs / 10);
    ask(reader, "an hour long ago (-a -S -E)", {.from = then, .to = then + Seconds{kHour}});
    ask(reader, "a user's day long ago (-u -S -E)",
        {.uids = {10'007}, .from = then, .to = then + Seconds{kDay}});
    ask(reader, "a name's day long ago (-X --name -S -E)",
        {.names = {"job77"}, .from = then, .to = then + Seconds{kDay}});
    ask(reader, "failures of the last day (-s F -S)",
        {.states = {"FAILED"}, .from = since(kDay), .to = at(last), .ended_only = true});
    ask(reader, "a name, of all time (--name)", {.names = {"job77"}});
    ask(reader, "a partition's last hour (-r -S)", {.partitions = {"gpu"}, .from = since(kHour)});
    ask(reader, "a user's jobs of all time (-u)", {.uids = {10'007}});
}

}  // namespace

int main(int argc, char** argv) {
    const Options options = parse(argc, argv);
    const std::string folder = options.folder + "/history-" + std::to_string(::getpid());
    std::filesystem::create_directories(folder);
    {
        auto made = store::open_sqlite(folder + "/switchyard.db");
        if (!made) die(made.error().message);
        fill(**made, options);
        auto reader = (*made)->open_reader();
        if (!reader) die(reader.error().message);
        measure(**reader, options);
    }
    std::filesystem::remove_all(folder);
    return 0;
}
