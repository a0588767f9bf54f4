// run_many.cpp: starts a command again and again, each time as a fresh process, and prints how long
// each took.
//
//     run_many [--parallel P] [--seconds S] COUNT COMMAND [ARGUMENT...]
//
// prints one line of JSON: count, failures, seconds in all, and median, p10, p90, p99 of one run in
// microseconds. After S seconds no more are started. vfork and exec, output to /dev/null: what is
// measured is the command, not this program.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

extern char** environ;

namespace {

using Clock = std::chrono::steady_clock;

struct Tally {
    std::vector<double> microseconds;
    int failures = 0;
};

pid_t start(char** command, const posix_spawn_file_actions_t& actions) {
    pid_t pid = -1;
    if (posix_spawnp(&pid, command[0], &actions, nullptr, command, environ) != 0) {
        std::fprintf(stderr, "run_many: cannot start %s\n", command[0]);
        std::exit(1);
    }
    return pid;
}

Tally run(int count, int parallel, double seconds, char** command) {
    const Clock::time_point end =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(
                           std::chrono::duration<double>(seconds > 0 ? seconds : 1e7));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);

    Tally tally;
    std::map<pid_t, Clock::time_point> running;
    int started = 0;
    while (started < count || !running.empty()) {
        while (started < count && static_cast<int>(running.size()) < parallel) {
            const Clock::time_point begin = Clock::now();
            if (begin >= end) {
                count = started;
                break;
            }
            running[start(command, actions)] = begin;
            ++started;
        }
        if (running.empty()) break;
        int status = 0;
        const pid_t pid = waitpid(-1, &status, 0);
        const auto found = running.find(pid);
        if (found == running.end()) continue;
        const std::chrono::duration<double, std::micro> took = Clock::now() - found->second;
        tally.microseconds.push_back(took.count());
        tally.failures += status != 0;
        running.erase(found);
    }
    posix_spawn_file_actions_destroy(&actions);
    return tally;
}

}  // namespace

int main(int argc, char** argv) {
    int parallel = 1;
    double seconds = 0;
    int at = 1;
    for (; at + 1 < argc && argv[at][0] == '-'; at += 2) {
        if (std::strcmp(argv[at], "--parallel") == 0) parallel = std::atoi(argv[at + 1]);
        if (std::strcmp(argv[at], "--seconds") == 0) seconds = std::atof(argv[at + 1]);
    }
    const int count = at < argc ? std::atoi(argv[at]) : 0;
    if (count < 1 || parallel < 1 || at + 1 >= argc) {
        std::fprintf(stderr,
                     "usage: run_many [--parallel P] [--seconds S] COUNT COMMAND [ARGUMENT...]\n");
        return 2;
    }
    const Clock::time_point begin = Clock::now();
    Tally tally = run(count, parallel, seconds, argv + at + 1);
    const std::chrono::duration<double> all = Clock::now() - begin;
    std::vector<double>& times = tally.microseconds;
    if (times.empty()) times.push_back(0);
    std::sort(times.begin(), times.end());
    const auto at_share = [&](double share) {
        return times[std::min(times.size() - 1,
                              static_cast<std::size_t>(share * static_cast<double>(times.size())))];
    };
    std::printf(
        "{\"count\": %d, \"failures\": %d, \"seconds\": %.6f, \"median\": %.1f, \"p10\": %.1f, "
        "\"p90\": %.1f, "
        "\"p99\": %.1f}\n",
        static_cast<int>(times.size()), tally.failures, all.count(), at_share(0.5), at_share(0.1),
        at_share(0.9), at_share(0.99));
    return 0;
}
