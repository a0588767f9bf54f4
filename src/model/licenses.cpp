#include "model/licenses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"

namespace switchyard::model {
namespace {

Result<std::vector<License>> parse_list(std::string_view text, char separator) {
    std::vector<License> licenses;
    for (const std::string_view entry : split(text, separator)) {
        const std::size_t colon = entry.find_first_of(":=");
        const std::string_view name = trim(entry.substr(0, colon));
        std::uint64_t count = 1;
        if (colon != std::string_view::npos) {
            const auto number = parse_uint(entry.substr(colon + 1));
            count = number.value_or(0);
        }
        if (name.empty() || count == 0 || count > std::numeric_limits<std::uint32_t>::max() / 2)
            return fail(Errc::InvalidLicenses);
        const auto known = std::ranges::find(licenses, name, &License::name);
        if (known != licenses.end()) {
            known->count += static_cast<std::uint32_t>(count);
        } else {
            licenses.push_back({std::string(name), static_cast<std::uint32_t>(count)});
        }
    }
    return licenses;
}

}  // namespace

Result<std::vector<License>> parse_licenses(std::string_view text) {
    if (text.empty()) return std::vector<License>();
    return parse_list(text, ',');
}

std::string format_licenses(const std::vector<License>& licenses) {
    std::string text;
    for (const License& license : licenses) {
        if (!text.empty()) text += ',';
        text += fmt::format("{}:{}", license.name, license.count);
    }
    return text;
}

Result<LicenseRequest> parse_license_request(std::string_view text) {
    LicenseRequest request;
    if (text.empty()) return request;
    request.any = text.find('|') != std::string_view::npos;
    if (request.any && text.find(',') != std::string_view::npos) return fail(Errc::InvalidLicenses);
    SY_TRY(request.entries, parse_list(text, request.any ? '|' : ','));
    return request;
}

}  // namespace switchyard::model
