#include "model/output_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace switchyard::model {
namespace {

constexpr std::uint32_t kNoElement =
    4294967294;  // What Slurm prints for %a of a job that is no array.
constexpr std::size_t kWidthMax = 10;

// One replacement: where it stands in the pattern and what it asks for.
struct Symbol {
    char letter;
    std::size_t width;
    std::size_t length;  // Characters of the pattern, with the percent sign.
};

// Reads the symbol that starts with the '%' at the front of `text`; a length of 0 if there is none.
Symbol read_symbol(std::string_view text) {
    std::size_t at = 1;
    std::size_t width = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
        width = std::min(width * 10 + static_cast<std::size_t>(text[at] - '0'), kWidthMax);
        ++at;
    }
    if (at >= text.size()) return {'\0', 0, 0};
    return {text[at], width, at + 1};
}

std::string number(std::uint32_t value, std::size_t width) {
    return fmt::format("{:0{}}", value, width);
}

// What a symbol stands for; none for a letter that means nothing.
std::optional<std::string> replacement(const Symbol& symbol, const PatternFacts& facts) {
    const std::size_t width = symbol.width;
    const std::uint32_t element = facts.element.value_or(kNoElement);
    switch (symbol.letter) {
        case '%':
            return "%";
        case 'A':
            return number(facts.array_job.value_or(facts.job).value, width);
        case 'a':
            return number(element, width);
        case 'b':
            return number(element % 10, width);
        case 'j':
            return number(facts.job.value, width);
        case 'J': {
            std::string out = number(facts.job.value, width);
            if (facts.step && *facts.step != kBatchStep)
                out += fmt::format(".{}", facts.step->value);
            return out;
        }
        case 's': {
            if (facts.step && *facts.step < kInteractiveStep)
                return number(facts.step->value, width);
            if (facts.step == kExternStep) return "extern";
            return facts.step == kInteractiveStep ? "interactive" : "batch";
        }
        case 'N':
            return facts.node;
        case 'n':
            return number(facts.node_index, width);
        case 't':
            return number(facts.task.value_or(0), width);
        case 'u':
            return facts.user;
        case 'x':
            return facts.job_name;
        default:
            return std::nullopt;
    }
}

bool has_symbol(std::string_view pattern, std::string_view letters) {
    if (pattern.contains('\\')) return false;
    for (std::size_t at = pattern.find('%'); at != std::string_view::npos;
         at = pattern.find('%', at)) {
        const Symbol symbol = read_symbol(pattern.substr(at));
        if (symbol.length == 0) return false;
        if (letters.contains(symbol.letter)) return true;
        at += symbol.length;
    }
    return false;
}

}  // namespace

std::string expand_pattern(std::string_view pattern, const PatternFacts& facts) {
    std::string out;
    if (pattern.contains('\\')) {
        out = pattern;
        std::erase(out, '\\');
        return out;
    }
    for (std::size_t at = 0; at < pattern.size();) {
        if (pattern[at] != '%') {
            out += pattern[at++];
            continue;
        }
        const Symbol symbol = read_symbol(pattern.substr(at));
        const auto text = symbol.length == 0 ? std::nullopt : replacement(symbol, facts);
        if (text) {
            out += *text;
            at += symbol.length;
        } else {
            out += pattern[at++];  // Means nothing: stays as it is.
        }
    }
    return out;
}

bool is_per_task(std::string_view pattern) { return has_symbol(pattern, "t"); }
bool is_per_node(std::string_view pattern) { return has_symbol(pattern, "nN"); }

}  // namespace switchyard::model
