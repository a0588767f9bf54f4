#include "view/table/report_table.hpp"

#include <fmt/format.h>

#include "base/cell_width.hpp"
#include "base/visible.hpp"

namespace switchyard::view {
namespace {

constexpr int kWidthMax = 4096;

void append_padded(std::string& line, std::string_view text, int width) {
    const auto wanted = static_cast<std::size_t>(std::abs(width));
    const std::size_t cells = cell_width(text);
    const std::string blanks(wanted > cells ? wanted - cells : 0, ' ');
    if (width > 0) line += blanks;
    line += text;
    if (width < 0) line += blanks;
    line += ' ';
}

// Whether it can be kept out of the cells: not what our own lists and times are written with.
bool separates(std::string_view delimiter) {
    constexpr std::string_view kOurs = " ,=:-+/[]()_.%*";
    const char first = delimiter.empty() ? ' ' : delimiter.front();
    const bool letter = (first >= '0' && first <= '9') || (first >= 'A' && first <= 'Z') ||
                        (first >= 'a' && first <= 'z');
    return !letter && !kOurs.contains(first);
}

}  // namespace

std::vector<FormatWord> parse_format_list(std::string_view format) {
    std::vector<FormatWord> wishes;
    for (std::string_view part : split(format, ',')) {
        part = trim(part);
        if (part.empty()) continue;
        FormatWord wish;
        const std::size_t percent = part.find('%');
        wish.name = std::string(trim(part.substr(0, percent)));
        if (percent != std::string_view::npos) {
            std::string_view digits = part.substr(percent + 1);
            const bool left = digits.starts_with('-');
            if (left) digits.remove_prefix(1);
            const auto number = parse_uint(digits);
            if (number && *number > 0) {
                const int width =
                    static_cast<int>(std::min<std::uint64_t>(*number, std::uint64_t{kWidthMax}));
                wish.width = left ? -width : width;
            }
        }
        wishes.push_back(std::move(wish));
    }
    return wishes;
}

void append_heading(std::string& line, std::string_view name, int width) {
    append_padded(line, name.substr(0, static_cast<std::size_t>(std::abs(width))), width);
}

void append_parsable(std::string& line, std::string_view text, const ReportStyle& style,
                     bool last) {
    const std::string_view mark = std::string_view(style.delimiter).substr(0, 1);
    line += visible(text, separates(mark) ? mark : std::string_view());
    if (!last || style.ending) line += style.delimiter;
}

void append_cell(std::string& line, std::string_view shown, int width, Wide wide) {
    const std::string text = visible(shown);
    const auto room = static_cast<std::size_t>(std::abs(width));
    if (wide == Wide::Whole || cell_width(text) <= room) return append_padded(line, text, width);
    const bool marked = wide == Wide::Mark && room > 0;
    std::string cut(fit_to_cells(text, marked ? room - 1 : room));
    if (marked) cut += '+';
    append_padded(line, cut, width);
}

std::string helpformat(const std::vector<std::string_view>& names, HelpColumns columns) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const bool last = i % columns.count == columns.count - 1 || i + 1 == names.size();
        text += fmt::format("{:<{}}{}", names[i], columns.width, last ? '\n' : ' ');
    }
    return text;
}

}  // namespace switchyard::view
