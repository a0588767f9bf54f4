// codec_parts.hpp: what the files of the codec share: the small messages that stand inside others,
// and how one field of each kind is written and read.
//
// An optional value is a field with presence. A value that equals its default is left out, and what
// is left out is read as its default. Enumerators travel as numbers and are checked against the
// last one known here.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/codec.hpp"

namespace switchyard::wire {

// --- messages inside messages ---
void encode(const model::TimeLimit& from, TimeLimit* to);
void encode(const model::GresRequest& from, GresRequest* to);
void encode(const model::GresInventory& from, GresInventory* to);
void encode(const model::GresGrant& from, GresGrant* to);
void encode(const model::ArraySpec& from, ArraySpec* to);
void encode(const model::ArrayPlace& from, ArrayPlace* to);
void encode(const model::HetPlace& from, HetPlace* to);
void encode(const model::DependencyTerm& from, DependencyTerm* to);
void encode(const model::Dependency& from, Dependency* to);
void encode(const model::WarnSignal& from, WarnSignal* to);
void encode(const model::MemoryRequest& from, MemoryRequest* to);
void encode(const model::Distribution& from, Distribution* to);
void encode(const model::ExitStatus& from, ExitStatus* to);
void encode(const model::Pending& from, Pending* to);
void encode(const model::Preemption& from, Preemption* to);
void encode(const model::Running& from, Running* to);
void encode(const model::Suspended& from, Suspended* to);
void encode(const model::Completing& from, Completing* to);
void encode(const model::Ended& from, Ended* to);
void encode(const model::StepNode& from, StepNode* to);
void encode(const model::StepEnd& from, StepEnd* to);
void encode(const model::NodeConfig& from, NodeConfig* to);
void encode(const model::NodeMark& from, NodeMark* to);
void encode(const model::NodeReboot& from, NodeReboot* to);
void encode(const model::TimeLimitChange& from, TimeLimitChange* to);
Status decode_into(const TimeLimit& from, model::TimeLimit& to);
Status decode_into(const GresRequest& from, model::GresRequest& to);
Status decode_into(const GresInventory& from, model::GresInventory& to);
Status decode_into(const CardUse& from, model::CardUse& to);
Status decode_into(const GresGrant& from, model::GresGrant& to);
Status decode_into(const ArraySpec& from, model::ArraySpec& to);
Status decode_into(const ArrayPlace& from, model::ArrayPlace& to);
Status decode_into(const HetPlace& from, model::HetPlace& to);
Status decode_into(const DependencyTerm& from, model::DependencyTerm& to);
Status decode_into(const Dependency& from, model::Dependency& to);
Status decode_into(const WarnSignal& from, model::WarnSignal& to);
Status decode_into(const MemoryRequest& from, model::MemoryRequest& to);
Status decode_into(const Distribution& from, model::Distribution& to);
Status decode_into(const ExitStatus& from, model::ExitStatus& to);
Status decode_into(const Pending& from, model::Pending& to);
Status decode_into(const Preemption& from, model::Preemption& to);
Status decode_into(const Running& from, model::Running& to);
Status decode_into(const Suspended& from, model::Suspended& to);
Status decode_into(const Completing& from, model::Completing& to);
Status decode_into(const Ended& from, model::Ended& to);
Status decode_into(const StepNode& from, model::StepNode& to);
Status decode_into(const StepEnd& from, model::StepEnd& to);
Status decode_into(const NodeConfig& from, model::NodeConfig& to);
Status decode_into(const NodeMark& from, model::NodeMark& to);
Status decode_into(const NodeReboot& from, model::NodeReboot& to);
Status decode_into(const Trigger& from, model::Trigger& to);
Status decode_into(const TimeLimitChange& from, model::TimeLimitChange& to);

Status decode_into(const JobSpec& from, model::JobSpec& to);
Status decode_into(const Allocation& from, model::Allocation& to);
Status decode_into(const NodeGrant& from, model::NodeGrant& to);
Status decode_into(const Outcome& from, model::Outcome& to);
Status decode_into(const StepSpec& from, model::StepSpec& to);
Status decode_into(const StepLayout& from, model::StepLayout& to);
Status decode_into(const NodeFacts& from, model::NodeFacts& to);
Status decode_into(const JobSelector& from, model::JobSelector& to);
Status decode_into(const JobUpdate& from, model::JobUpdate& to);
Status decode_into(const NodeUpdate& from, model::NodeUpdate& to);
Status decode_into(const PartitionUpdate& from, model::PartitionUpdate& to);
Status decode_into(const Partition& from, model::Partition& to);
Status decode_into(const Reservation& from, model::Reservation& to);
Status decode_into(const ReservationUpdate& from, model::ReservationUpdate& to);
Status decode_into(const Node& from, model::Node& to);
Status decode_into(const Step& from, model::Step& to);

// --- fields ---
inline std::int64_t millis_of(Instant instant) { return instant.time_since_epoch().count(); }
inline Instant instant_of(std::int64_t millis) { return Instant{Millis{millis}}; }

template <class Enum>
std::uint32_t number_of(Enum value) {
    return static_cast<std::uint32_t>(value);
}

template <class Enum>
Status read_enum(std::uint32_t number, Enum last, std::string_view field, Enum& to) {
    if (number > static_cast<std::uint32_t>(last)) {
        return fail(Errc::InvalidArgument,
                    fmt::format("message holds an unknown {}: {}", field, number));
    }
    to = static_cast<Enum>(number);
    return {};
}

template <class Small>
Status read_small(std::uint32_t number, std::string_view field, Small& to) {
    to = static_cast<Small>(number);
    if (to == number) return {};
    return fail(Errc::InvalidArgument,
                fmt::format("message holds a {} that is too large: {}", field, number));
}

inline Status read_set(const std::string& text, model::IndexSet& to,
                       std::size_t intervals_max = limits::kIndexSetIntervalsMax) {
    if (text.empty()) {
        to = {};
        return {};
    }
    SY_TRY(to, model::parse_index_set(text, intervals_max));
    return {};
}

using Strings = google::protobuf::RepeatedPtrField<std::string>;
inline void put_strings(const std::vector<std::string>& from, Strings* to) {
    to->Reserve(static_cast<int>(from.size()));
    for (const std::string& each : from) *to->Add() = each;
}
inline std::vector<std::string> strings_of(const Strings& from) {
    return {from.begin(), from.end()};
}

// A message inside another, and lists of them, by the pairs of functions above.
template <class Value, class Message>
Status read_message(const Message& from, Value& to) {
    return decode_into(from, to);
}
template <class Value, class Message>
Status read_message(const Message& from, std::optional<Value>& to) {
    return decode_into(from, to.emplace());
}
template <class Value, class Message>
void encode_all(const std::vector<Value>& from, google::protobuf::RepeatedPtrField<Message>* to) {
    to->Reserve(static_cast<int>(from.size()));
    for (const Value& each : from) encode(each, to->Add());
}
template <class Value, class Message>
Status decode_all(const google::protobuf::RepeatedPtrField<Message>& from, std::vector<Value>& to) {
    to.clear();
    to.reserve(static_cast<std::size_t>(from.size()));
    for (const Message& each : from) SY_CHECK(decode_into(each, to.emplace_back()));
    return {};
}

template <class Value>
bool is_default(const Value& value) {
    return value == Value{};
}

}  // namespace switchyard::wire
