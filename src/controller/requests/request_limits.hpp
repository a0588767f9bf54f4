// request_limits.hpp: how large a request may be, by its kind, looked at before it is decoded.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace switchyard::controller {

// The number of a request, of its bytes; 0 where it has none.
std::uint64_t request_id(std::string_view request);

// `payload`: what was cut out of a submission (wire_fields.hpp). The error names the limit.
Status weigh_request(std::string_view request, std::string_view payload);

}  // namespace switchyard::controller
