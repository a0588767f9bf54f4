#include "cli/last_backfill.hpp"

#include "wire/proto/request.pb.h"

namespace switchyard::cli {

void write_last_backfill(format::Document& document, client::Connection& connection) {
    wire::Request request;
    request.mutable_diag();
    const auto reply = connection.call(request);
    const std::int64_t millis = reply ? reply->diag().last_backfill_at() : 0;
    document.number("last_backfill", format::Number::of(static_cast<std::uint64_t>(millis / 1000)));
}

}  // namespace switchyard::cli
