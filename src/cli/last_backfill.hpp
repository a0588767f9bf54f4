// last_backfill.hpp: when backfill last planned, as documents with jobs tell it.
#pragma once

#include "cli/format/document.hpp"
#include "client/client.hpp"

namespace switchyard::cli {

// "last_backfill": seconds since 1970; 0 before its first pass, or when the controller is gone.
void write_last_backfill(format::Document& document, client::Connection& connection);

}  // namespace switchyard::cli
