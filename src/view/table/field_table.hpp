// field_table.hpp: joins the columns somebody asked for to the fields a row has, and prints header
// and rows.
//
// A field is a line of a constant table: its letter, its long name, its heading and a function from
// the row to text. squeue (jobs, steps) and sinfo each bring a table and a kind of row.
//
// A row is one line whatever its texts hold, see base/visible.hpp, and where bars stand between
// the cells there are none within them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/append_in_place.hpp"
#include "base/text.hpp"
#include "base/visible.hpp"
#include "view/table/cell_text.hpp"
#include "view/table/column_format.hpp"

namespace switchyard::view {

inline constexpr std::size_t kUsualLineBytes = 2048;

template <class Row>
struct Field {
    char letter;            // 0: only by its long name.
    std::string_view name;  // Empty: only by its letter.
    std::string_view header;
    Overflow overflow;
    CellText<Row> text;
};

template <class Row>
class FieldTable {
  public:
    FieldTable() = default;

    static FieldTable by_letter(std::span<const Field<Row>> fields, std::vector<Column> columns) {
        return FieldTable(std::move(columns), [fields](const Column& column) {
            return find(fields, [&](const Field<Row>& field) {
                return field.letter != 0 && column.field == std::string_view(&field.letter, 1);
            });
        });
    }
    static FieldTable by_name(std::span<const Field<Row>> fields, std::vector<Column> columns) {
        return FieldTable(std::move(columns), [fields](const Column& column) {
            return find(fields, [&](const Field<Row>& field) {
                return !field.name.empty() && equals_ignoring_case(column.field, field.name);
            });
        });
    }

    // What was asked for and does not exist, as typed (a letter, a name).
    const std::vector<std::string>& unknown() const { return unknown_; }
    bool has(std::string_view header) const {
        for (const Bound& bound : columns_) {
            if (bound.field != nullptr && bound.field->header == header) return true;
        }
        return false;
    }

    // Whether each field that is shown is one of these.
    bool has_only(std::string_view letters) const {
        for (const Bound& bound : columns_) {
            const bool other = bound.field != nullptr &&
                               (bound.field->letter == 0 || !letters.contains(bound.field->letter));
            if (other) return false;
        }
        return true;
    }

    std::string header() const {
        std::string line;
        append_line(line, [](const Bound& bound, auto put) {
            const bool nodes = bound.field->overflow == Overflow::NodeList;
            return put(bound.field->header, nodes ? Overflow::NodeList : Overflow::Cut);
        });
        return line;
    }
    void append_row(std::string& out, const Row& row) const {
        CellBuffer room;
        const std::size_t before = out.size();
        if (!needs_care_) {
            append_line(out, [&](const Bound& bound, auto put) {
                return bound.field->text.look(row, room, [&](std::string_view text) {
                    return put(text, bound.field->overflow);
                });
            });
            if (is_plain(std::string_view(out).substr(before, out.size() - before - 1))) return;
            out.resize(before);
        }
        append_line(out, [&](const Bound& bound, auto put) {
            return bound.field->text.look(row, room, [&](std::string_view text) {
                return put(visible(text, bars_), bound.field->overflow, Measure::Cells);
            });
        });
    }

  private:
    struct Bound {
        Column column;
        const Field<Row>* field;  // Null: literal text, in the column's suffix.
    };

    // A line with the cells that `cell` gives to the function it is handed. Where it does not fit
    // into the room that most lines need, it is written again.
    template <class Cell>
    void append_line(std::string& out, Cell cell) const {
        const std::size_t before = out.size();
        for (std::size_t room = kUsualLineBytes; out.size() == before; room *= 2) {
            append_in_place(out, room, [&](char* begin) {
                char* const end = put_line(begin, begin + room, cell);
                return end != nullptr ? end : begin;
            });
        }
    }
    template <class Cell>
    char* put_line(char* at, const char* end, Cell cell) const {
        for (const Bound& bound : columns_) {
            const auto put = [&](std::string_view text, Overflow overflow,
                                 Measure measure = Measure::Ascii) {
                return put_cell(at, end, text, bound.column, overflow, measure);
            };
            at = bound.field == nullptr ? put({}, Overflow::Cut) : cell(bound, put);
            if (at == nullptr) return nullptr;
        }
        if (at == end) return nullptr;
        *at = '\n';
        return at + 1;
    }

    template <class Matches>
    static const Field<Row>* find(std::span<const Field<Row>> fields, Matches matches) {
        for (const Field<Row>& field : fields) {
            if (matches(field)) return &field;
        }
        return nullptr;
    }

    template <class Find>
    FieldTable(std::vector<Column> columns, Find find_field) {
        columns_.reserve(columns.size());
        for (Column& column : columns) {
            const Field<Row>* field = column.field.empty() ? nullptr : find_field(column);
            if (field == nullptr) column.width = 0;  // Its suffix is all that is printed.
            if (field == nullptr && !column.field.empty()) {
                unknown_.push_back(column.field);
                column.suffix = column.source.starts_with('%') ? column.source : column.suffix;
            }
            if (column.suffix.contains(kBar)) bars_ = kBar;
            needs_care_ = needs_care_ || !bars_.empty() || !is_plain(column.suffix);
            columns_.push_back({std::move(column), field});
        }
    }

    static constexpr std::string_view kBar = "|";

    std::vector<Bound> columns_;
    std::vector<std::string> unknown_;
    std::string_view bars_;    // What separates cells and is no part of one; empty: nothing.
    bool needs_care_ = false;  // The cells must be looked at one by one, not the line as a whole.
};

}  // namespace switchyard::view
