// bindings.cpp: --cpu-bind and --mem-bind: from what was typed to the processors of each task.
#include <algorithm>
#include <string>

#include "fuzz/fuzz.hpp"
#include "options/bind_words.hpp"
#include "stepd/binding.hpp"

namespace switchyard {
namespace {

constexpr std::size_t kHeadBytes = 3;
constexpr std::string_view kDistributions[] = {"", "block", "cyclic", "fcyclic"};
constexpr std::string_view kLevels[] = {"", "cores", "threads", "sockets"};

model::IndexSet all_of(const std::vector<model::IndexSet>& cores) {
    model::IndexSet all;
    for (const model::IndexSet& core : cores) all.insert(core);
    return all;
}

}  // namespace

// The head: how many tasks, how many cores with how many threads, and over what they are dealt.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < kHeadBytes) return 0;
    const std::string_view typed = fuzz::as_text(data + kHeadBytes, size - kHeadBytes);
    const std::string wish = options::canonical_bind(typed, kLevels[data[2] / 4 % 4]);
    // A bare "quiet" asks for nothing.
    fuzz::must(wish == "quiet" || options::canonical_bind(wish, {}) == wish,
               "the one form stays as it is", wish);

    stepd::BindRequest request;
    request.tasks = 1 + data[0] % 16;
    request.cpus_per_task = 1 + data[0] / 16;
    const std::uint32_t cores = data[1] % 8, threads = 1 + data[1] / 128;
    for (std::uint32_t core = 0; core < cores; ++core) {
        request.cores.push_back(
            model::IndexSet::range(core * threads, core * threads + threads - 1));
        request.sockets.push_back(core / 4);
        request.ldoms.push_back(core / 2);
    }
    request.wish = wish;
    request.distribution = kDistributions[data[2] % 4];
    if (const auto binding = stepd::bind_tasks(request)) {
        const model::IndexSet own = all_of(request.cores);
        for (const model::IndexSet& task : binding->tasks)
            fuzz::must(task.intersection(own) == task, "no task has what its step has not", wish);
        fuzz::must(binding->tasks.size() == request.tasks, "every task has its line", wish);
    }
    if (const auto memory = stepd::bind_memory(wish, request.tasks))
        fuzz::must(memory->size() == request.tasks, "every task has its memory", wish);
    return 0;
}

}  // namespace switchyard
