// reservation_text.hpp: reservations and licenses as scontrol and sinfo show them.
#pragma once

#include <string>
#include <vector>

#include "model/licenses.hpp"
#include "model/sized_reservation.hpp"
#include "view/document.hpp"
#include "view/record.hpp"

namespace switchyard::view {

std::string reservation_text(const model::SizedReservation& sized, const RecordStyle& style);
std::string license_text(const model::LicenseUse& license, const RecordStyle& style);

// "reservations": [...] and when they were so.
void write_reservations(Document& document,
                        const std::vector<model::SizedReservation>& reservations, Instant now);
void write_licenses(Document& document, const std::vector<model::LicenseUse>& licenses,
                    Instant now);

// sinfo -T
std::string reservation_table(const std::vector<model::SizedReservation>& reservations, Instant now,
                              bool header, const std::string& time_format);

}  // namespace switchyard::view
