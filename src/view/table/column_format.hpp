// column_format.hpp: the little language in which squeue and sinfo are told which columns to print.
//
// Letters: "%.18i %.9P": '%', an optional '.' for right-justified, an optional width, a letter,
// then text up to the next '%'. Long names: "JobID,Name:20,State:.10|": a name, and behind a colon
// an optional '.', an optional width and text that follows the cell. This file knows the language,
// not the fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace switchyard::view {

struct Column {
    std::string field;  // A letter ("i") or a long name ("JobID"); empty: `suffix` is literal text.
    std::size_t width = 0;  // 0: as wide as the text.
    bool right = false;
    std::string suffix;  // Printed behind the cell, in the header too.
    std::string source;  // As typed, printed in place of a field that does not exist.
    bool operator==(const Column&) const = default;
};

inline constexpr std::size_t kLongFieldWidth = 20;  // Of a long name without a colon.
inline constexpr std::size_t kWidthMax = 4096;      // A wider column is as good as this.

// Text before the first '%' comes first, as a literal column.
std::vector<Column> parse_letter_format(std::string_view format);
std::vector<Column> parse_long_format(std::string_view format);

// How a cell treats text that is wider than its column.
enum class Overflow {
    Cut,
    // Node lists: cut in a left-justified column, whole in a right-justified one. A text in
    // parentheses is a reason that stands in their place, and is cut.
    NodeList,
    Duration,  // The same, but its heading is cut.
};

// Widths are cells of a terminal. Of ASCII each byte takes one, which needs no looking at.
enum class Measure : std::uint8_t { Ascii, Cells };

// Writes the cell, padded to the width of its column, and the column's suffix; returns where it
// ends. Null: there is too little room before `end`. What is behind the cell may be written over.
char* put_cell(char* at, const char* end, std::string_view text, const Column& column,
               Overflow overflow, Measure measure = Measure::Ascii);

}  // namespace switchyard::view
