// hostlist.cpp: reading and folding of host list expressions.
//
// An item is text with bracket groups in it; each group is a list of number ranges. Expanding
// counts the names before it makes any, so that an expression of twenty characters cannot ask for a
// billion.
#include "model/hostlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/limits.hpp"
#include "base/text.hpp"

namespace switchyard::model {
namespace {

constexpr std::string_view kSeparators = ", \t\n\r";
constexpr std::size_t kDigitsMax = 18;  // So many fit a 64-bit number with room to spare.

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Range {
    std::uint64_t first;
    std::uint64_t last;
    std::size_t width;  // Numbers are padded with zeros to this many digits.

    std::uint64_t size() const { return last - first + 1; }
};

// One stretch of an item: plain text, then (perhaps) a bracket group.
struct Part {
    std::string_view text;
    std::vector<Range> ranges;  // Empty: only text; that is the last part of an item.
};

bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= kDigitsMax && std::ranges::all_of(text, is_digit);
}

// The inside of a bracket group: "1-3,07".
bool parse_ranges(std::string_view text, std::vector<Range>& ranges) {
    if (text.empty()) return false;
    for (std::string_view piece : split(text, ',')) {
        const std::size_t dash = piece.find('-');
        const std::string_view first = piece.substr(0, dash);
        const std::string_view last =
            dash == std::string_view::npos ? first : piece.substr(dash + 1);
        if (!is_number(first) || !is_number(last)) return false;
        const Range range{*parse_uint(first), *parse_uint(last), first.size()};
        if (range.last < range.first || range.size() > limits::kHostlistNamesMax) return false;
        ranges.push_back(range);
    }
    return true;
}

// Splits one item into its parts; false on unbalanced or nested brackets.
bool parse_item(std::string_view item, std::vector<Part>& parts) {
    while (!item.empty()) {
        const std::size_t open = item.find_first_of("[]");
        Part part{item.substr(0, open), {}};
        if (open == std::string_view::npos) {
            parts.push_back(std::move(part));
            return true;
        }
        if (item[open] == ']') return false;
        const std::size_t close = item.find_first_of("[]", open + 1);
        if (close == std::string_view::npos || item[close] == '[') return false;
        if (!parse_ranges(item.substr(open + 1, close - open - 1), part.ranges)) return false;
        parts.push_back(std::move(part));
        item.remove_prefix(close + 1);
    }
    return true;
}

// How many names the parts stand for, as far as it matters whether they are too many.
std::uint64_t count_names(const std::vector<Part>& parts) {
    std::uint64_t names = 1;
    for (const Part& part : parts) {
        if (part.ranges.empty()) continue;
        std::uint64_t choices = 0;
        for (const Range& range : part.ranges) {
            choices += range.size();
            if (choices > limits::kHostlistNamesMax) return choices;
        }
        names *= choices;
        if (names > limits::kHostlistNamesMax) return names;
    }
    return names;
}

void append_number(std::string& out, std::uint64_t number, std::size_t width) {
    const fmt::format_int digits(number);
    if (digits.size() < width) out.append(width - digits.size(), '0');
    out.append(digits.data(), digits.size());
}

// Writes all names of parts[at..] behind what `name` already holds. The depth is the number of
// groups in one item, which count_names bounds only where groups have choices; parse bounds the
// rest by its text.
void expand_parts(const std::vector<Part>& parts, std::size_t at, std::string& name,
                  std::vector<std::string>& out) {
    if (at == parts.size()) {
        out.push_back(name);
        return;
    }
    const Part& part = parts[at];
    const std::size_t length = name.size();
    name += part.text;
    if (part.ranges.empty()) {
        expand_parts(parts, at + 1, name, out);
    }
    const std::size_t prefix = name.size();
    for (const Range& range : part.ranges) {
        for (std::uint64_t number = range.first; number <= range.last; ++number) {
            append_number(name, number, range.width);
            expand_parts(parts, at + 1, name, out);
            name.resize(prefix);
        }
    }
    name.resize(length);
}

constexpr std::size_t kGroupsMax = 16;  // Bracket groups in one item.

// The end of the item that starts `text`: the first separator outside of brackets.
std::size_t item_end(std::string_view text) {
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') inside = true;
        if (text[i] == ']') inside = false;
        if (!inside && kSeparators.contains(text[i])) return i;
    }
    return text.size();
}

// A name split into its prefix and the number it ends with.
struct Numbered {
    std::string_view prefix;
    std::string_view digits;  // Empty: it ends with no number.
    std::uint64_t number = 0;
};

Numbered split_number(std::string_view name) {
    std::size_t at = name.size();
    while (at > 0 && is_digit(name[at - 1]) && name.size() - at < kDigitsMax) --at;
    Numbered out{name.substr(0, at), name.substr(at)};
    if (!out.digits.empty()) out.number = *parse_uint(out.digits);
    return out;
}

// True if `next`, written with the width of `first`, is the number behind `last`.
bool continues(const Numbered& first, const Numbered& last, const Numbered& next) {
    if (next.number != last.number + 1) return false;
    if (next.digits.size() == first.digits.size()) return true;
    return next.digits.size() > first.digits.size() && next.digits[0] != '0';
}

}  // namespace

Result<std::vector<std::string>> expand_hostlist(std::string_view expression) {
    const auto invalid = [&] {
        return fail(Errc::InvalidNodeName, fmt::format("Invalid hostlist: {}", expression));
    };
    std::vector<std::string> names;
    std::string_view rest = expression;
    while (!rest.empty()) {
        const std::size_t end = item_end(rest);
        const std::string_view item = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (item.empty()) continue;
        std::vector<Part> parts;
        if (!parse_item(item, parts) || parts.size() > kGroupsMax) return invalid();
        if (names.size() + count_names(parts) > limits::kHostlistNamesMax) {
            return fail(Errc::InvalidNodeName, fmt::format("Invalid hostlist: more than {} names",
                                                           limits::kHostlistNamesMax));
        }
        std::string name;
        expand_parts(parts, 0, name, names);
    }
    return names;
}

std::string compress_hostlist(const std::vector<std::string>& names) {
    std::string out;
    out.reserve(names.size() * 4 + 16);
    std::size_t at = 0;
    while (at < names.size()) {
        if (!out.empty()) out += ',';
        const Numbered head = split_number(names[at]);
        out += head.prefix;
        if (head.digits.empty()) {
            ++at;
            continue;
        }
        const std::size_t bracket = out.size();
        std::size_t ranges = 0;
        Numbered next = head;
        bool same_prefix = true;
        while (same_prefix) {
            const Numbered first = next;
            Numbered last = next;
            same_prefix = false;
            while (++at < names.size()) {
                next = split_number(names[at]);
                same_prefix = !next.digits.empty() && next.prefix == head.prefix;
                if (!same_prefix || !continues(first, last, next)) break;
                last = next;
                same_prefix = false;
            }
            if (ranges++ > 0) out += ',';
            out += first.digits;
            if (last.number != first.number) {
                out += '-';
                out += last.digits;
                ++ranges;  // A range needs brackets, too.
            }
        }
        if (ranges > 1) {
            out.insert(bracket, 1, '[');
            out += ']';
        }
    }
    return out;
}

bool hostname_less(std::string_view a, std::string_view b) {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < a.size() && j < b.size()) {
        if (!is_digit(a[i]) || !is_digit(b[j])) {
            if (a[i] != b[j])
                return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
            ++i;
            ++j;
            continue;
        }
        // Two numbers: without leading zeros the longer is greater, then the digits decide.
        while (i < a.size() && a[i] == '0') ++i;
        while (j < b.size() && b[j] == '0') ++j;
        const std::size_t a_begin = i;
        const std::size_t b_begin = j;
        while (i < a.size() && is_digit(a[i])) ++i;
        while (j < b.size() && is_digit(b[j])) ++j;
        if (i - a_begin != j - b_begin) return i - a_begin < j - b_begin;
        const int order = a.substr(a_begin, i - a_begin).compare(b.substr(b_begin, j - b_begin));
        if (order != 0) return order < 0;
    }
    if (i < a.size() || j < b.size()) return j < b.size();
    return a < b;  // Equal but for leading zeros: any order that is always the same.
}

std::vector<std::string> sort_hostnames(std::vector<std::string> names) {
    std::ranges::sort(names, hostname_less);
    const auto repeated = std::ranges::unique(names);
    names.erase(repeated.begin(), repeated.end());
    return names;
}

}  // namespace switchyard::model
