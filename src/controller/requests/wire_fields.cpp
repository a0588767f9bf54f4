#include "controller/requests/wire_fields.hpp"

#include "wire/fields.hpp"
#include "wire/proto/request.pb.h"

namespace switchyard::controller {

void append_field_head(std::string& out, std::uint32_t number, std::size_t size) {
    char head[kFieldHeadBytesMax];
    out.append(head, put_varint(put_bytes_tag(head, number), size));
}

std::optional<SplitSubmission> split_submission(std::string_view request) {
    std::string_view submit;
    std::string others;
    wire::Fields fields(request);
    for (wire::Field field; fields.next(field);) {
        const bool is_submit = field.is_bytes && field.number == wire::Request::kSubmitFieldNumber;
        if (is_submit && !submit.empty()) return std::nullopt;
        if (is_submit)
            submit = field.value;
        else
            others += field.whole;
    }
    if (!fields.ok() || submit.empty()) return std::nullopt;

    SplitSubmission split;
    std::string small;
    wire::Fields parts(submit);
    for (wire::Field part; parts.next(part);) {
        const bool is_payload =
            part.is_bytes && part.number == wire::SubmitRequest::kPayloadFieldNumber;
        if (is_payload && !split.payload.empty()) return std::nullopt;
        if (is_payload)
            split.payload = part.value;
        else
            small += part.whole;
    }
    if (!parts.ok() || split.payload.empty()) return std::nullopt;
    split.request.reserve(others.size() + small.size() + 16);
    split.request = std::move(others);
    append_field_head(split.request, wire::Request::kSubmitFieldNumber, small.size());
    split.request += small;
    return split;
}

std::optional<PayloadSizes> measure_payload(std::string_view payload) {
    PayloadSizes sizes;
    wire::Fields fields(payload);
    for (wire::Field field; fields.next(field);) {
        switch (field.number) {
            case wire::JobPayload::kScriptFieldNumber:
                sizes.script = field.value.size();
                break;
            case wire::JobPayload::kArgumentsFieldNumber:
            case wire::JobPayload::kEnvironmentFieldNumber:
                sizes.environment += field.value.size() + 1;
                break;
            default:
                break;
        }
    }
    if (!fields.ok()) return std::nullopt;
    return sizes;
}

}  // namespace switchyard::controller
