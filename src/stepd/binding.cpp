#include "stepd/binding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

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

std::uint32_t at(const std::vector<std::uint32_t>& values, std::size_t i) {
    return i < values.size() ? values[i] : 0;
}

// Positions of cores, so many to each task: one after the other, or turn by turn from each socket.
class Dealer {
  public:
    Dealer(const BindRequest& request, std::size_t each) : request_(request), each_(each) {
        const bool by_turns = request.distribution == "cyclic" || request.distribution == "fcyclic";
        std::map<std::uint32_t, std::vector<std::size_t>> by_socket;
        for (std::size_t i = 0; i < request.cores.size(); ++i)
            by_socket[by_turns ? at(request.sockets, i) : 0].push_back(i);
        for (auto& [socket, cores] : by_socket) stacks_.push_back({std::move(cores), 0});
    }

    std::vector<std::vector<std::size_t>> deal() {
        std::vector<std::vector<std::size_t>> tasks(request_.tasks);
        const bool every_core = request_.distribution == "fcyclic";
        std::size_t turn = 0;
        for (std::size_t task = 0; task < tasks.size(); ++task) {
            for (std::size_t k = 0; k < each_; ++k) {
                Stack& stack = stacks_[(every_core ? turn++ : task) % stacks_.size()];
                tasks[task].push_back(stack.cores[stack.next++ % stack.cores.size()]);
            }
        }
        return tasks;
    }

  private:
    struct Stack {
        std::vector<std::size_t> cores;
        std::size_t next;
    };
    const BindRequest& request_;
    std::size_t each_;
    std::vector<Stack> stacks_;
};

std::vector<model::IndexSet> in_blocks(const BindRequest& request, std::size_t cores_each) {
    std::vector<model::IndexSet> tasks;
    for (const auto& cores : Dealer(request, cores_each).deal()) {
        model::IndexSet& cpus = tasks.emplace_back();
        for (const std::size_t core : cores) cpus.insert(request.cores[core]);
    }
    return tasks;
}

std::size_t cores_per_task(const BindRequest& request) {
    const std::size_t threads = request.cores.front().size() > 0 ? request.cores.front().size() : 1;
    return (request.cpus_per_task + threads - 1) / threads;
}

// Hardware threads in order, so many to each task.
std::vector<model::IndexSet> by_threads(const BindRequest& request, std::size_t each) {
    const std::vector<std::uint32_t> cpus = all_cpus(request.cores).to_vector();
    std::vector<model::IndexSet> tasks(request.tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        for (std::size_t k = 0; k < each; ++k) tasks[i].insert(cpus[(i * each + k) % cpus.size()]);
    }
    return tasks;
}

// All of the step's cpus in the sockets (or domains) that the task's cores are in.
std::vector<model::IndexSet> widened(const BindRequest& request,
                                     const std::vector<std::uint32_t>& places) {
    std::vector<model::IndexSet> tasks;
    for (const auto& cores : Dealer(request, cores_per_task(request)).deal()) {
        std::set<std::uint32_t> used;
        for (const std::size_t core : cores) used.insert(at(places, core));
        model::IndexSet& cpus = tasks.emplace_back();
        for (std::size_t i = 0; i < request.cores.size(); ++i) {
            if (used.contains(at(places, i))) cpus.insert(request.cores[i]);
        }
    }
    return tasks;
}

// Task after task to the domains of a list; a wrong number is a domain without cpus: not bound.
std::vector<model::IndexSet> to_domains(const BindRequest& request,
                                        const std::vector<model::IndexSet>& domains) {
    std::vector<model::IndexSet> tasks(request.tasks);
    for (std::size_t task = 0; task < tasks.size() && !domains.empty(); ++task) {
        for (std::size_t i = 0; i < request.cores.size(); ++i) {
            if (domains[task % domains.size()].contains(at(request.ldoms, i)))
                tasks[task].insert(request.cores[i]);
        }
    }
    return tasks;
}

Result<std::vector<model::IndexSet>> domain_list(std::string_view list, bool masks) {
    std::vector<model::IndexSet> domains;
    for (const std::string_view piece : split(list, ',')) {
        model::IndexSet& domain = domains.emplace_back();
        if (masks) {
            SY_TRY(domain, parse_mask(piece));
            continue;
        }
        const auto number = parse_uint(piece);
        if (!number || *number >= kCpusMax)
            return fail(Errc::InvalidArgument, "bad list in --cpu-bind");
        domain.insert(static_cast<std::uint32_t>(*number));
    }
    return domains;
}

std::vector<model::IndexSet> every_domain(const BindRequest& request) {
    std::set<std::uint32_t> numbers(request.ldoms.begin(), request.ldoms.end());
    if (numbers.empty()) numbers.insert(0);
    std::vector<model::IndexSet> domains;
    for (const std::uint32_t number : numbers) domains.emplace_back().insert(number);
    return domains;
}

// "map_cpu:0,1" or "map_cpu=0,1": the list behind a word.
std::optional<std::string_view> list_behind(std::string_view wish, std::string_view word) {
    if (!starts_with_ignoring_case(wish, word) || wish.size() <= word.size()) return std::nullopt;
    const char mark = wish[word.size()];
    if (mark != ':' && mark != '=') return std::nullopt;
    return wish.substr(word.size() + 1);
}

bool is_any(std::string_view wish, std::initializer_list<std::string_view> words) {
    return std::ranges::any_of(words, [&](auto word) { return equals_ignoring_case(wish, word); });
}

// Takes "verbose" and "quiet" off the front of a wish.
std::string_view without_manners(std::string_view wish, bool& verbose) {
    while (!wish.empty()) {
        const std::string_view word = wish.substr(0, wish.find(','));
        const bool speaks = is_any(word, {"verbose", "v"});
        if (!speaks && !is_any(word, {"quiet", "q"})) break;
        verbose = speaks;
        wish = word.size() < wish.size() ? wish.substr(word.size() + 1) : std::string_view();
    }
    return wish;
}

Result<std::vector<model::IndexSet>> by_list(std::string_view wish, const BindRequest& request) {
    if (const auto list = list_behind(wish, "map_cpu")) return from_list(*list, false, request);
    if (const auto list = list_behind(wish, "mask_cpu")) return from_list(*list, true, request);
    for (const bool masks : {false, true}) {
        if (const auto list = list_behind(wish, masks ? "mask_ldom" : "map_ldom")) {
            SY_TRY(const auto domains, domain_list(*list, masks));
            return to_domains(request, domains);
        }
    }
    return std::vector<model::IndexSet>(request.tasks);
}

}  // namespace

Result<Binding> bind_tasks(const BindRequest& request) {
    Binding binding;
    binding.tasks.resize(request.tasks);
    std::string_view wish = without_manners(request.wish, binding.verbose);
    // "cores,none": the last word has the say, but for lists, which have commas of their own.
    if (!wish.contains(':') && !wish.contains('=')) wish = wish.substr(wish.rfind(',') + 1);
    if (request.cores.empty() || request.tasks == 0) return binding;
    if (is_any(wish, {"core", "cores"})) {
        binding.tasks = in_blocks(request, cores_per_task(request));
    } else if (is_any(wish, {"thread", "threads"})) {
        binding.tasks = by_threads(request, request.cpus_per_task);
    } else if (is_any(wish, {"socket", "sockets"})) {
        binding.tasks = widened(request, request.sockets);
    } else if (is_any(wish, {"ldom", "ldoms"})) {
        binding.tasks = widened(request, request.ldoms);
    } else if (is_any(wish, {"rank_ldom"})) {
        binding.tasks = to_domains(request, every_domain(request));
    } else if (wish.empty()) {
        const std::size_t each = request.cores.size() / request.tasks;
        if (each > 0 && each * request.tasks == request.cores.size()) {
            binding.tasks = in_blocks(request, each);
        }
    } else {
        SY_TRY(binding.tasks, by_list(wish, request));
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
