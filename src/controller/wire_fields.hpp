// wire_fields.hpp: encoded messages taken apart and put together by their fields (wire/fields.hpp).
// So a script of megabytes travels from its user to the store and on to the node as the bytes it
// came in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace switchyard::controller {

void append_field_head(std::string& out, std::uint32_t number, std::size_t size);

// A submission without its bulky part, and that part. None for all other requests, and for what is
// malformed.
struct SplitSubmission {
    std::string request;
    std::string_view payload;
};
std::optional<SplitSubmission> split_submission(std::string_view request);

// What the limits are about, of an encoded JobPayload. None: it is malformed.
struct PayloadSizes {
    std::size_t script = 0;
    std::size_t environment = 0;  // And arguments.
};
std::optional<PayloadSizes> measure_payload(std::string_view payload);

}  // namespace switchyard::controller
