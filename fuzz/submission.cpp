// submission.cpp: a submission taken apart before it is decoded: the script and the environment are
// cut out by hand, and measured by hand. What is cut out is what a full decoding finds there.
#include "controller/requests/wire_fields.hpp"
#include "fuzz/fuzz.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard {
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view frame = fuzz::as_text(data, size);
    (void)controller::measure_payload(frame);
    const auto split = controller::split_submission(frame);
    if (!split) return 0;
    (void)controller::measure_payload(split->payload);
    wire::Request request;
    (void)request.ParseFromArray(split->request.data(), static_cast<int>(split->request.size()));
    return 0;
}

}  // namespace switchyard
