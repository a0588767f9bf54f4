// rows.hpp: rows whose first column is an encoded record, as values of src/model.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "store/sqlite/database.hpp"
#include "wire/codec.hpp"

namespace switchyard::store {

// The message of a record. All kinds have one of their own name.
template <class Record>
struct MessageNamed;
#define SY_MESSAGE(Type)               \
    template <>                        \
    struct MessageNamed<model::Type> { \
        using Is = wire::Type;         \
    };
SY_MESSAGE(Node)
SY_MESSAGE(Trigger)
SY_MESSAGE(Reservation)
#undef SY_MESSAGE
template <class Record>
using MessageOf = typename MessageNamed<Record>::Is;

// Reads many records. It keeps the message it decodes with, so that a long list does not pay for
// hundreds of small allocations each.
template <class Message, class Value>
class RowReader {
  public:
    explicit RowReader(Database& database) : database_(database) {}

    // The next row; none: that was the last.
    Result<std::optional<Value>> next(Statement& query) {
        const Statement::Step step = query.next();
        if (step == Statement::Step::Failed) return database_.failure("read");
        if (step == Statement::Step::Done) return std::optional<Value>();
        const std::string_view bytes = query.column_bytes(0);
        if (!message_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
            return fail(Errc::Io, "the state database holds a record that cannot be read");
        }
        SY_TRY(Value value, wire::decode(message_));
        return std::optional<Value>(std::move(value));
    }

  private:
    Database& database_;
    Message message_;
};

template <class Message, class Value>
Result<std::vector<Value>> read_rows(Database& database, Statement& query) {
    RowReader<Message, Value> rows(database);
    std::vector<Value> values;
    while (true) {
        SY_TRY(std::optional<Value> value, rows.next(query));
        if (!value) break;
        values.push_back(*std::move(value));
    }
    query.reset();
    return values;
}

}  // namespace switchyard::store
