// main.cpp: switchyard_sim --seeds COUNT [--from SEED] | --seed SEED [--trace]
//
// Each seed is a simulation in a process of its own, so that a broken promise (or an assertion of
// the core) names its seed and the others still run.

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "sim/run.hpp"

namespace {

using switchyard::sim::Simulation;

struct Options {
    std::uint64_t from = 1, count = 2000;
    bool trace = false;
    unsigned workers = std::max(1u, std::thread::hardware_concurrency());
};

int usage() {
    std::fprintf(stderr,
                 "usage: switchyard_sim [--seeds COUNT] [--from SEED] [--seed SEED] [--trace] "
                 "[--workers N]\n");
    return 2;
}

// Runs seeds from, from+stride, ...; the number of the one under way is what the parent prints on
// failure.
void work(const Options& options, unsigned worker, int progress) {
    for (std::uint64_t i = worker; i < options.count; i += options.workers) {
        const std::uint64_t seed = options.from + i;
        if (write(progress, &seed, sizeof seed) != sizeof seed) std::_Exit(3);
        Simulation(seed, options.trace).run();
    }
    std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        const bool has_value = i + 1 < argc;
        if (option == "--trace")
            options.trace = true;
        else if (option == "--seeds" && has_value)
            options.count = std::strtoull(argv[++i], nullptr, 10);
        else if (option == "--from" && has_value)
            options.from = std::strtoull(argv[++i], nullptr, 10);
        else if (option == "--workers" && has_value)
            options.workers = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
        else if (option == "--seed" && has_value) {
            options.from = std::strtoull(argv[++i], nullptr, 10);
            options.count = 1;
        } else
            return usage();
    }
    if (options.workers == 0) return usage();
    if (options.count == 1) {
        const auto figures = Simulation(options.from, options.trace).run();
        std::printf("seed %llu: %llu events, %llu submissions, %llu crashes, %llu other faults\n",
                    static_cast<unsigned long long>(options.from),
                    static_cast<unsigned long long>(figures.events),
                    static_cast<unsigned long long>(figures.jobs),
                    static_cast<unsigned long long>(figures.crashes),
                    static_cast<unsigned long long>(figures.faults));
        return 0;
    }
    const auto begin = std::chrono::steady_clock::now();
    struct Child {
        pid_t pid;
        int progress;
    };
    std::vector<Child> children;
    for (unsigned worker = 0; worker < options.workers; ++worker) {
        int ends[2];
        if (pipe(ends) != 0) return 3;
        const pid_t pid = fork();
        if (pid == 0) {
            close(ends[0]);
            work(options, worker, ends[1]);
        }
        close(ends[1]);
        children.push_back({pid, ends[0]});
    }
    int failures = 0;
    for (const Child& child : children) {
        std::uint64_t seed = 0;
        for (std::uint64_t next = 0; read(child.progress, &next, sizeof next) == sizeof next;)
            seed = next;
        int status = 0;
        waitpid(child.pid, &status, 0);
        if (status == 0) continue;
        ++failures;
        std::fprintf(stderr, "FAILED: seed %llu. Replay: switchyard_sim --seed %llu --trace\n",
                     static_cast<unsigned long long>(seed), static_cast<unsigned long long>(seed));
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%llu seeds, %d failed, %.1f s\n", static_cast<unsigned long long>(options.count),
                failures, took.count());
    return failures == 0 ? 0 : 1;
}
