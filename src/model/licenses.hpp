// licenses.hpp: counted things of the whole cluster: names and how many of each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace switchyard::model {

struct License {
    std::string name;
    std::uint32_t count = 1;
    auto operator<=>(const License&) const = default;
};

// "fluent:30,ansys:100" as slurm.conf and reservations have it; a name alone counts once, a name
// given twice counts twice. InvalidLicenses otherwise.
Result<std::vector<License>> parse_licenses(std::string_view text);
std::string format_licenses(const std::vector<License>& licenses);

// What a job asks for: all of a list ("a:2,b"), or one entry of it ("a:2|b").
struct LicenseRequest {
    std::vector<License> entries;
    bool any = false;
    auto operator<=>(const LicenseRequest&) const = default;
};
Result<LicenseRequest> parse_license_request(std::string_view text);

// One line of `scontrol show licenses`.
struct LicenseUse {
    std::string name;
    std::uint32_t total = 0, used = 0, reserved = 0;
    std::uint32_t free() const { return total - std::min(total, used); }
    bool operator==(const LicenseUse&) const = default;
};

}  // namespace switchyard::model
