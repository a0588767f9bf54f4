// memory_binding.cpp: --mem-bind: from which locality domains the tasks take their memory.
#include <fmt/format.h>

#include <charconv>

#include "base/text.hpp"
#include "stepd/binding.hpp"

namespace switchyard::stepd {
namespace {

using Policy = MemoryBinding::Policy;

constexpr std::uint32_t kDomainsMax = 1024;

std::optional<std::uint64_t> number_in(std::string_view text, int base) {
    if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

Result<std::vector<model::IndexSet>> parse_domains(std::string_view list, bool masks) {
    std::vector<model::IndexSet> all;
    for (const std::string_view piece : split(list, ',')) {
        const auto number = number_in(piece, masks ? 16 : 10);
        if (!number || (!masks && *number >= kDomainsMax))
            return fail(Errc::InvalidArgument, "bad list in --mem-bind");
        model::IndexSet& domains = all.emplace_back();
        if (!masks) domains.insert(static_cast<std::uint32_t>(*number));
        for (std::uint32_t bit = 0; masks && bit < 64; ++bit) {
            if ((*number >> bit & 1) != 0) domains.insert(bit);
        }
    }
    return all;
}

bool is_any(std::string_view word, std::initializer_list<std::string_view> words) {
    for (const std::string_view each : words) {
        if (equals_ignoring_case(word, each)) return true;
    }
    return false;
}

// "map_mem:" and its sisters take all the rest of the wish.
bool begins_list(std::string_view wish) {
    return starts_with_ignoring_case(wish, "map_mem") ||
           starts_with_ignoring_case(wish, "mask_mem");
}

}  // namespace

Result<std::vector<MemoryBinding>> bind_memory(std::string_view wish, std::uint32_t tasks) {
    std::vector<MemoryBinding> bindings(tasks);
    MemoryBinding common;
    std::vector<model::IndexSet> domains;
    bool prefers = false, by_rank = false;
    while (!wish.empty()) {
        const bool list = begins_list(wish);
        const std::string_view word = list ? wish : wish.substr(0, wish.find(','));
        if (list) {
            const std::size_t mark = word.find_first_of(":=");
            if (mark == std::string_view::npos)
                return fail(Errc::InvalidArgument, "bad list in --mem-bind");
            const bool masks = starts_with_ignoring_case(word, "mask_mem");
            SY_TRY(domains, parse_domains(word.substr(mark + 1), masks));
        } else if (is_any(word, {"v", "verbose"})) {
            common.verbose = true;
        } else if (is_any(word, {"p", "prefer"})) {
            prefers = true;
        } else if (is_any(word, {"local"})) {
            common.policy = Policy::Local;
        } else if (is_any(word, {"rank"})) {
            by_rank = true;
        }
        wish = word.size() < wish.size() ? wish.substr(word.size() + 1) : std::string_view();
    }
    for (std::uint32_t task = 0; task < tasks; ++task) {
        bindings[task] = common;
        if (by_rank) bindings[task].domains.insert(task);
        if (!domains.empty()) bindings[task].domains = domains[task % domains.size()];
        if (!bindings[task].domains.empty())
            bindings[task].policy = prefers ? Policy::Preferred : Policy::Bound;
    }
    return bindings;
}

std::string memory_line(const std::string& node, std::uint32_t global, std::uint32_t local,
                        const MemoryBinding& binding) {
    std::uint64_t mask = 0;
    for (const std::uint32_t domain : binding.domains.to_vector()) {
        if (domain < 64) mask |= std::uint64_t{1} << domain;
    }
    const std::string_view kind = binding.policy == Policy::Local       ? "LOC"
                                  : binding.policy == Policy::Inherited ? "NONE"
                                                                        : "MASK";
    return fmt::format("mem-bind={} - {}, task {:2} {:2}: mask 0x{:x} set\n", kind, node, global,
                       local, mask);
}

}  // namespace switchyard::stepd
