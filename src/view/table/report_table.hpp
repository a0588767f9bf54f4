// report_table.hpp: the tables of sacct, sstat, sacctmgr and sshare: columns of a width, a line of
// dashes under the headings, or values with bars between them.
//
// A field is a line of a constant table: name, width (negative: to the left), and a function from a
// row to text. A format is "JobID,State%20,NodeList%-256"; a name may be cut short and its case
// does not matter. A row is one line whatever its texts hold, see base/visible.hpp, and has as many
// fields as its header.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"

namespace switchyard::view {

// What becomes of text that is wider than its column.
enum class Wide {
    Mark,   // Cut, with a plus sign at the end.
    Cut,    // Times.
    Whole,  // Numbers.
};

struct ReportStyle {
    bool header = true;
    bool parsable = false;  // Bars, no widths.
    bool ending = false;    // A bar at the end of the line too.
    std::string delimiter = "|";
};

// One name of a format list, and the width behind its '%'.
struct FormatWord {
    std::string name;
    std::optional<int> width;
};
std::vector<FormatWord> parse_format_list(std::string_view format);

void append_heading(std::string& line, std::string_view name, int width);
void append_cell(std::string& line, std::string_view text, int width, Wide wide);
// With the delimiter behind it, which is no part of the text; `last`: of its line.
void append_parsable(std::string& line, std::string_view text, const ReportStyle& style, bool last);

template <class Row>
struct ReportField {
    std::string_view name;
    int width;
    Wide wide;
    std::string (*text)(const Row& row);
    bool is_listed = true;  // In the help, and part of "ALL".
};

template <class Row>
class ReportTable {
  public:
    // The error is the name that is none; "ALL" stands for every field.
    static Result<ReportTable> make(std::span<const ReportField<Row>> fields,
                                    std::string_view format, ReportStyle style) {
        ReportTable table;
        table.style_ = std::move(style);
        for (const FormatWord& wish : parse_format_list(format)) {
            if (equals_ignoring_case(wish.name, "ALL")) {
                for (const ReportField<Row>& field : fields) {
                    if (field.is_listed) table.add(field, wish.width);
                }
                continue;
            }
            const ReportField<Row>* field = find(fields, wish.name);
            if (field == nullptr) return fail(Errc::InvalidArgument, wish.name);
            table.add(*field, wish.width);
        }
        return table;
    }

    std::string header() const {
        if (!style_.header) return {};
        std::string names, dashes;
        for (const Column& column : columns_) {
            if (style_.parsable) {
                append_parsable(names, column.field->name, style_, &column == &columns_.back());
                continue;
            }
            append_heading(names, column.field->name, column.width);
            dashes.append(static_cast<std::size_t>(std::abs(column.width)), '-');
            dashes += ' ';
        }
        names += '\n';
        if (!style_.parsable) names += dashes + '\n';
        return names;
    }

    std::string line(const Row& row) const {
        std::string out;
        for (const Column& column : columns_) {
            const std::string text = column.field->text(row);
            if (style_.parsable) {
                append_parsable(out, text, style_, &column == &columns_.back());
            } else {
                append_cell(out, text, column.width, column.field->wide);
            }
        }
        out += '\n';
        return out;
    }

  private:
    struct Column {
        const ReportField<Row>* field;
        int width;
    };

    void add(const ReportField<Row>& field, std::optional<int> width) {
        columns_.push_back({&field, width.value_or(field.width)});
    }

    // The whole name before one that only begins alike.
    static const ReportField<Row>* find(std::span<const ReportField<Row>> fields,
                                        std::string_view name) {
        for (const ReportField<Row>& field : fields) {
            if (equals_ignoring_case(field.name, name)) return &field;
        }
        for (const ReportField<Row>& field : fields) {
            if (!name.empty() && equals_ignoring_case(field.name.substr(0, name.size()), name))
                return &field;
        }
        return nullptr;
    }

    ReportStyle style_;
    std::vector<Column> columns_;
};

// --helpformat and its like: names in columns.
struct HelpColumns {
    std::size_t count = 4;
    int width = 19;
};
std::string helpformat(const std::vector<std::string_view>& names, HelpColumns columns = {});

template <class Row>
std::vector<std::string_view> names_of(std::span<const ReportField<Row>> fields) {
    std::vector<std::string_view> names;
    for (const ReportField<Row>& field : fields) {
        if (field.is_listed) names.push_back(field.name);
    }
    return names;
}

}  // namespace switchyard::view
