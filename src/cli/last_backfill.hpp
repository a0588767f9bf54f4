// last_backfill.hpp: when backfill last planned, as documents with jobs tell it.
#pragma once

#include "client/client.hpp"
#include "view/document.hpp"

namespace switchyard::cli {

// "last_backfill": seconds since 1970; 0 before its first pass, or when the controller is gone.
void write_last_backfill(view::Document& document, client::Connection& connection);

}  // namespace switchyard::cli
