#include "controller/requests/request_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/limits.hpp"
#include "wire/fields.hpp"
#include "wire/proto/request.pb.h"
#include "wire/weigh.hpp"

namespace switchyard::controller {
namespace {

constexpr std::size_t kTriggersPerRequestMax = 1000;

// A kind of request that may be larger than others, or has parts that grow when they are decoded.
struct Rule {
    std::uint32_t body;
    std::size_t bytes_max;
    std::uint32_t part = 0;
    std::size_t parts_max = 0;
    std::string_view parts{};
};
using Request = wire::Request;
constexpr Rule kRules[] = {
    {Request::kSubmitFieldNumber, limits::kSubmissionBytesMax,
     wire::SubmitRequest::kComponentsFieldNumber, limits::kHetComponentsMax,
     "components of a heterogeneous job"},
    {Request::kCreateStepFieldNumber, limits::kEnvironmentBytesMax + limits::kSubmissionBytesMax,
     wire::CreateStepRequest::kMoreFieldNumber, limits::kHetComponentsMax, "parts of a step"},
    {Request::kCrontabFieldNumber, limits::kClientFrameBytesMax,
     wire::CrontabRequest::kJobsFieldNumber, limits::kCronLinesMax, "lines of a crontab"},
    {Request::kSetTriggersFieldNumber, limits::kRequestBytesMax,
     wire::SetTriggersRequest::kTriggersFieldNumber, kTriggersPerRequestMax, "triggers"},
    {Request::kUpdateNodeFieldNumber, limits::kNodeListBytesMax},
    {Request::kUpdatePartitionFieldNumber, limits::kNodeListBytesMax},
    {Request::kUpdateReservationFieldNumber, limits::kNodeListBytesMax},
    {Request::kRebootFieldNumber, limits::kNodeListBytesMax},
    {Request::kLogFieldNumber, limits::kNodeListBytesMax},
    {Request::kNodesFieldNumber, limits::kNodeListBytesMax},
};

Status check_parts(std::string_view request, const Rule& rule) {
    if (rule.part == 0) return {};
    const std::size_t parts = wire::count_repeated(request, std::array{rule.body, rule.part});
    if (parts <= rule.parts_max) return {};
    return fail(Errc::InvalidArgument, fmt::format("too many {}: {}, at most {} are allowed",
                                                   rule.parts, parts, rule.parts_max));
}

}  // namespace

std::uint64_t request_id(std::string_view request) {
    std::uint64_t id = 0;
    wire::Fields fields(request);
    for (wire::Field field; fields.next(field);) {
        if (field.number == Request::kIdFieldNumber) id = field.varint;
    }
    return id;
}

Status weigh_request(std::string_view request, std::string_view payload) {
    // Of one that holds several bodies the last counts, but all are decoded.
    std::size_t bytes_max = limits::kClientFrameBytesMax;
    std::array<bool, std::size(kRules)> seen{};
    wire::Fields fields(request);
    for (wire::Field field; fields.next(field);) {
        if (!field.is_bytes || field.number == Request::kCommandFieldNumber) continue;
        const auto* rule = std::ranges::find(kRules, field.number, &Rule::body);
        if (rule == std::end(kRules)) {
            bytes_max = std::min(bytes_max, limits::kRequestBytesMax);
        } else {
            seen[static_cast<std::size_t>(rule - kRules)] = true;
        }
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
        if (!seen[i]) continue;
        bytes_max = std::min(bytes_max, kRules[i].bytes_max);
        SY_CHECK(check_parts(request, kRules[i]));
    }
    if (request.size() > bytes_max) {
        return fail(Errc::InvalidArgument,
                    fmt::format("the request is too large: {} bytes, at most {} are allowed",
                                request.size(), bytes_max));
    }
    constexpr std::size_t kMost = limits::kRequestFieldsMax;
    std::size_t count = wire::count_fields(request, kMost + 1);
    // Nothing in it but text has parts of its own.
    wire::Fields parts(payload);
    for (wire::Field part; count <= kMost && parts.next(part);) ++count;
    if (count <= kMost) return {};
    return fail(Errc::InvalidArgument,
                fmt::format("the request has too many parts: at most {} are allowed", kMost));
}

}  // namespace switchyard::controller
