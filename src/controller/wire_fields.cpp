#include "controller/wire_fields.hpp"

#include "wire/proto/request.pb.h"

namespace switchyard::controller {
namespace {

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    out.push_back(static_cast<char>(value));
}

}  // namespace

void append_field_head(std::string& out, std::uint32_t number, std::size_t size) {
    append_varint(out, number << 3 | kBytes);
    append_varint(out, size);
}

std::optional<std::uint64_t> WireFields::varint() {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
        const auto byte = static_cast<unsigned char>(rest_[i]);
        value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
        if ((byte & 0x80) != 0) continue;
        rest_.remove_prefix(i + 1);
        return value;
    }
    return std::nullopt;
}

std::optional<WireField> WireFields::next() {
    const std::string_view begin = rest_;
    const auto stay = [&] {
        rest_ = begin;
        return std::nullopt;
    };
    const auto tag = varint();
    if (!tag) return stay();
    WireField field;
    field.number = static_cast<std::uint32_t>(*tag >> 3);
    std::uint64_t size = 0;
    switch (*tag & 7) {
        case kVarint:
            if (!varint()) return stay();
            break;
        case kFixed64:
            size = 8;
            break;
        case kFixed32:
            size = 4;
            break;
        case kBytes: {
            const auto length = varint();
            if (!length) return stay();
            size = *length;
            field.is_bytes = true;
            break;
        }
        default:
            return stay();
    }
    if (size > rest_.size()) return stay();
    field.value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    field.whole = begin.substr(0, begin.size() - rest_.size());
    return field;
}

std::optional<SplitSubmission> split_submission(std::string_view request) {
    std::string_view submit;
    std::string others;
    WireFields fields(request);
    while (const auto field = fields.next()) {
        const bool is_submit =
            field->is_bytes && field->number == wire::Request::kSubmitFieldNumber;
        if (is_submit && !submit.empty()) return std::nullopt;
        if (is_submit)
            submit = field->value;
        else
            others += field->whole;
    }
    if (!fields.ok() || submit.empty()) return std::nullopt;

    SplitSubmission split;
    std::string small;
    WireFields parts(submit);
    while (const auto part = parts.next()) {
        const bool is_payload =
            part->is_bytes && part->number == wire::SubmitRequest::kPayloadFieldNumber;
        if (is_payload && !split.payload.empty()) return std::nullopt;
        if (is_payload)
            split.payload = part->value;
        else
            small += part->whole;
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
    WireFields fields(payload);
    while (const auto field = fields.next()) {
        switch (field->number) {
            case wire::JobPayload::kScriptFieldNumber:
                sizes.script = field->value.size();
                break;
            case wire::JobPayload::kArgumentsFieldNumber:
            case wire::JobPayload::kEnvironmentFieldNumber:
                sizes.environment += field->value.size() + 1;
                break;
            default:
                break;
        }
    }
    if (!fields.ok()) return std::nullopt;
    return sizes;
}

}  // namespace switchyard::controller
