#include "store/sqlite/history_sql.hpp"

#include <fmt/format.h>

namespace switchyard::store {
namespace {

std::string places(std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += i == 0 ? "?" : ",?";
    return out;
}

void add_list(std::string& sql, std::string_view column, std::size_t count) {
    if (count > 0) sql += fmt::format(" AND {} IN ({})", column, places(count));
}

}  // namespace

std::vector<HistoryPart> parts_of(const HistoryQuery& query) {
    std::vector<HistoryPart> parts{HistoryPart::Open, HistoryPart::Ended};
    if (!query.jobs.empty()) parts = {HistoryPart::ById};
    if (query.past_runs) parts.push_back(HistoryPart::PastRuns);
    return parts;
}

std::string history_sql(const HistoryQuery& query, HistoryPart part) {
    std::string sql = fmt::format("SELECT id FROM {} WHERE ",
                                  part == HistoryPart::PastRuns ? "past_runs" : "jobs");
    const bool ended = part == HistoryPart::Ended || part == HistoryPart::PastRuns;
    if (!query.jobs.empty()) {
        const std::string ids = places(query.jobs.size());
        sql += fmt::format("(id IN ({}) OR array_id IN ({}))", ids, ids);
    } else {
        sql += part == HistoryPart::Open ? "end_time IS NULL" : "end_time IS NOT NULL";
        if (part == HistoryPart::Open && query.ended_only) sql += " AND state = 'COMPLETING'";
    }
    if (query.from && ended) sql += " AND end_time >= ?";
    if (query.from && part == HistoryPart::ById) sql += " AND (end_time IS NULL OR end_time >= ?)";
    if (query.to) sql += query.ended_only && ended ? " AND end_time <= ?" : " AND submit_time <= ?";
    add_list(sql, "uid", query.uids.size());
    add_list(sql, "user", query.users.size());
    add_list(sql, "name", query.names.size());
    if (ended) add_list(sql, "partition", query.partitions.size());
    if (ended) add_list(sql, "state", query.states.size());
    return sql;
}

void bind_history(Statement& statement, const HistoryQuery& query, HistoryPart part) {
    const bool ended = part == HistoryPart::Ended || part == HistoryPart::PastRuns;
    for (int twice = 0; twice < 2; ++twice) {
        for (const JobId id : query.jobs) statement.integer(std::int64_t{id.value});
    }
    if (query.from && part != HistoryPart::Open) statement.integer(unix_seconds(*query.from));
    if (query.to) statement.integer(unix_seconds(*query.to));
    for (const std::uint32_t uid : query.uids) statement.integer(std::int64_t{uid});
    const auto texts = [&](const std::vector<std::string>& values) {
        for (const std::string& value : values) statement.text(std::string_view(value));
    };
    texts(query.users);
    texts(query.names);
    if (ended) texts(query.partitions);
    if (ended) texts(query.states);
}

}  // namespace switchyard::store
