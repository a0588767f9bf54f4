// sqlite_rows.hpp: rows whose first column is an encoded record, as values of src/model.
#pragma once

#include <fmt/format.h>

#include <vector>

#include "store/sqlite.hpp"
#include "wire/codec.hpp"

namespace switchyard::store {

template <class Message, class Value>
Result<std::vector<Value>> read_rows(Database& database, Statement& query) {
    std::vector<Value> values;
    Statement::Step step;
    while ((step = query.next()) == Statement::Step::Row) {
        const std::string_view bytes = query.column_bytes(0);
        Message message;
        if (!message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
            return fail(Errc::Io, "the state database holds a record that cannot be read");
        }
        SY_TRY(Value value, wire::decode(message));
        values.push_back(std::move(value));
    }
    query.reset();
    if (step == Statement::Step::Failed) return database.failure("read");
    return values;
}

}  // namespace switchyard::store
