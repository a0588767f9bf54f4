// reservation_text.hpp: reservations and licenses as scontrol and sinfo show them.
#pragma once

#include <string>
#include <vector>

#include "cli/format/document.hpp"
#include "cli/format/record.hpp"
#include "client/client.hpp"

namespace switchyard::cli::format {

std::string reservation_text(const client::ReservationView& view, const RecordStyle& style);
std::string license_text(const model::LicenseUse& license, const RecordStyle& style);

// "reservations": [...] and when they were so.
void write_reservations(Document& document, const client::ReservationsAnswer& answer);
void write_licenses(Document& document, const client::LicensesAnswer& answer);

// sinfo -T
std::string reservation_table(const client::ReservationsAnswer& answer, bool header,
                              const std::string& time_format);

}  // namespace switchyard::cli::format
