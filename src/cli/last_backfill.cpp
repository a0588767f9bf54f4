#include "cli/last_backfill.hpp"

namespace switchyard::cli {

void write_last_backfill(view::Document& document, client::Connection& connection) {
    const auto statistics = client::fetch_statistics(connection);
    const Instant when = statistics ? statistics->last_backfill.value_or(Instant{}) : Instant{};
    document.number("last_backfill",
                    view::Number::of(static_cast<std::uint64_t>(unix_seconds(when))));
}

}  // namespace switchyard::cli
