#include "stepd/binding.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/text.hpp"

namespace switchyard::stepd {
namespace {

constexpr std::uint32_t kCpusMax = 4096;

model::IndexSet all_cpus(const std::vector<model::IndexSet>& cores) {
    model::IndexSet all;
    for (const model::IndexSet& core : cores) all.insert(core);
    return all;
}

// "0xff": bit n is cpu n.
Result<model::IndexSet> parse_mask(std::string_view text) {
    if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
    model::IndexSet cpus;
    std::uint32_t bit = 0;
    for (std::size_t i = text.size(); i-- > 0; bit += 4) {
        unsigned digit = 0;
        const auto [end, error] = std::from_chars(&text[i], &text[i] + 1, digit, 16);
        if (error != std::errc{} || bit >= kCpusMax)
            return fail(Errc::InvalidArgument, "bad mask in --cpu-bind");
        for (std::uint32_t k = 0; k < 4; ++k) {
            if ((digit >> k & 1) != 0) cpus.insert(bit + k);
        }
    }
    return cpus;
}

// A list that tasks take their turn in; only cpus of the step count.
Result<std::vector<model::IndexSet>> from_list(std::string_view list, bool masks,
                                               const BindRequest& request) {
    const model::IndexSet own = all_cpus(request.cores);
    std::vector<model::IndexSet> given;
    for (const std::string_view piece : split(list, ',')) {
        model::IndexSet cpus;
        if (masks) {
            SY_TRY(cpus, parse_mask(piece));
        } else {
            const auto cpu = parse_uint(piece);
            if (!cpu || *cpu >= kCpusMax)
                return fail(Errc::InvalidArgument, "bad list in --cpu-bind");
            cpus.insert(static_cast<std::uint32_t>(*cpu));
        }
        given.push_back(cpus.intersection(own));
    }
    if (given.empty()) return fail(Errc::InvalidArgument, "empty list in --cpu-bind");
    std::vector<model::IndexSet> tasks;
    for (std::uint32_t i = 0; i < request.tasks; ++i) tasks.push_back(given[i % given.size()]);
    return tasks;
}

// Cores in order, the same number to each task.
std::vector<model::IndexSet> in_blocks(const BindRequest& request, std::size_t cores_each) {
    std::vector<model::IndexSet> tasks(request.tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        for (std::size_t k = 0; k < cores_each; ++k) {
            tasks[i].insert(request.cores[(i * cores_each + k) % request.cores.size()]);
        }
    }
    return tasks;
}

std::size_t cores_per_task(const BindRequest& request) {
    const std::size_t threads = request.cores.front().size() > 0 ? request.cores.front().size() : 1;
    return (request.cpus_per_task + threads - 1) / threads;
}

}  // namespace

Result<Binding> bind_tasks(const BindRequest& request) {
    Binding binding;
    binding.tasks.resize(request.tasks);
    std::string_view wish = request.wish;
    for (;;) {
        const std::string_view word = wish.substr(0, wish.find(','));
        const bool verbose = word == "verbose" || word == "v";
        if (!verbose && word != "quiet" && word != "q") break;
        binding.verbose = verbose;
        wish = word.size() < wish.size() ? wish.substr(word.size() + 1) : std::string_view();
    }
    if (request.cores.empty() || request.tasks == 0) return binding;
    if (wish.starts_with("map_cpu:")) {
        SY_TRY(binding.tasks, from_list(wish.substr(8), false, request));
    } else if (wish.starts_with("mask_cpu:")) {
        SY_TRY(binding.tasks, from_list(wish.substr(9), true, request));
    } else if (wish == "cores" || wish == "threads" || wish == "rank") {
        binding.tasks = in_blocks(request, cores_per_task(request));
    } else if (wish.empty()) {
        const std::size_t each = request.cores.size() / request.tasks;
        if (each > 0 && each * request.tasks == request.cores.size()) {
            binding.tasks = in_blocks(request, each);
        }
    }
    return binding;
}

std::string binding_line(const std::string& node, std::uint32_t global, std::uint32_t local,
                         int pid, const model::IndexSet& cpus) {
    std::uint64_t mask = 0;
    for (const std::uint32_t cpu : cpus.to_vector()) {
        if (cpu < 64) mask |= std::uint64_t{1} << cpu;
    }
    return fmt::format("cpu-bind=MASK - {}, task {:2} {:2} [{}]: mask 0x{:x} set\n", node, global,
                       local, pid, mask);
}

}  // namespace switchyard::stepd
