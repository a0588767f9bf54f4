// history_sql.hpp: the statements that find which jobs a question means. They are made here and
// run by the reader, so that a test can ask SQLite by which index it would answer each.
#pragma once

#include <string>
#include <vector>

#include "store/sqlite/database.hpp"
#include "store/store.hpp"

namespace switchyard::store {

// The part of the jobs that one statement looks at. Jobs asked for by id are found by it; others by
// the indexes over those that have ended, and over those that have not.
enum class HistoryPart { ById, Open, Ended, PastRuns };

// In the order in which they are to be asked: a job that ends meanwhile is found twice, not missed.
std::vector<HistoryPart> parts_of(const HistoryQuery& query);
// The statement, each row an id, and what it is bound to; the query must live until it has run.
std::string history_sql(const HistoryQuery& query, HistoryPart part);
void bind_history(Statement& statement, const HistoryQuery& query, HistoryPart part);

}  // namespace switchyard::store
