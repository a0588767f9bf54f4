#include "view/table/column_format.hpp"

#include <algorithm>
#include <cstring>

#include "base/cell_width.hpp"
#include "base/text.hpp"

namespace switchyard::view {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes the digits off the front of `text`.
std::size_t take_width(std::string_view& text) {
    std::size_t width = 0;
    while (!text.empty() && is_digit(text.front())) {
        width = std::min(kWidthMax, width * 10 + static_cast<std::size_t>(text.front() - '0'));
        text.remove_prefix(1);
    }
    return width;
}

// What stands between two '%'.
Column parse_letter_token(std::string_view token) {
    Column column;
    column.source = "%" + std::string(token);
    if (token.starts_with('.')) {
        column.right = true;
        token.remove_prefix(1);
    }
    column.width = take_width(token);
    if (!token.empty()) {
        column.field = token.front();
        column.suffix = token.substr(1);
    } else {
        column.field = " ";  // "%10" without a letter: no such field.
    }
    return column;
}

// Nearly all cells are short: a call of memcpy() for each costs more than its bytes. As two pieces
// of a fixed size that overlap, any number of them is copied.
template <std::size_t kSize>
void put_ends(char* to, std::string_view text) {
    char first[kSize], last[kSize];
    std::memcpy(first, text.data(), kSize);
    std::memcpy(last, text.data() + text.size() - kSize, kSize);
    std::memcpy(to, first, kSize);
    std::memcpy(to + text.size() - kSize, last, kSize);
}

char* put(char* to, std::string_view text) {
    const std::size_t size = text.size();
    if (size == 1) {
        *to = text.front();
    } else if (size > 16) {
        std::memcpy(to, text.data(), size);
    } else if (size >= 8) {
        put_ends<8>(to, text);
    } else if (size >= 4) {
        put_ends<4>(to, text);
    } else if (size >= 2) {
        put_ends<2>(to, text);
    }
    return to + size;
}

constexpr std::string_view kBlanks = "                ";

// And some more behind them, where something else comes next.
char* put_blanks(char* to, std::size_t count) {
    for (std::size_t done = 0; done < count; done += kBlanks.size())
        std::memcpy(to + done, kBlanks.data(), kBlanks.size());
    return to + count;
}

Column parse_long_token(std::string_view token) {
    Column column;
    column.source = token;
    const std::size_t colon = token.find(':');
    column.field = token.substr(0, colon);
    if (colon == std::string_view::npos) {
        column.width = kLongFieldWidth;
        return column;
    }
    std::string_view rest = token.substr(colon + 1);
    if (rest.starts_with('.')) {
        column.right = true;
        rest.remove_prefix(1);
    }
    // A negative width is none, and a blank comes behind.
    const bool negative = !column.right && rest.starts_with('-');
    if (negative) rest.remove_prefix(1);
    const std::size_t width = take_width(rest);
    column.width = negative ? 0 : width;
    column.suffix = negative ? " " + std::string(rest) : std::string(rest);
    return column;
}

}  // namespace

std::vector<Column> parse_letter_format(std::string_view format) {
    std::vector<Column> columns;
    const std::size_t first = std::min(format.find('%'), format.size());
    if (first > 0) {
        Column literal;
        literal.suffix = format.substr(0, first);
        columns.push_back(std::move(literal));
    }
    for (const std::string_view token : split(format.substr(first), '%')) {
        if (!token.empty()) columns.push_back(parse_letter_token(token));
    }
    return columns;
}

std::vector<Column> parse_long_format(std::string_view format) {
    std::vector<Column> columns;
    for (const std::string_view token : split(format, ',')) {
        if (!token.empty()) columns.push_back(parse_long_token(token));
    }
    return columns;
}

char* put_cell(char* at, const char* end, std::string_view text, const Column& column,
               Overflow overflow, Measure measure) {
    const bool whole = column.right && overflow != Overflow::Cut && !text.starts_with('(');
    const bool by_cells = measure == Measure::Cells;
    if (column.width != 0 && !whole)
        text = by_cells ? fit_to_cells(text, column.width) : text.substr(0, column.width);
    const std::size_t cells = by_cells ? cell_width(text) : text.size();
    const std::size_t blanks = column.width > cells ? column.width - cells : 0;
    const std::size_t size = blanks + text.size() + column.suffix.size();
    if (static_cast<std::size_t>(end - at) < size + kBlanks.size()) return nullptr;
    if (column.right) at = put_blanks(at, blanks);
    at = put(at, text);
    if (!column.right) at = put_blanks(at, blanks);
    return put(at, column.suffix);
}

}  // namespace switchyard::view
