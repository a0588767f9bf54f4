// codec.cpp: decode() for callers that want a value: the same as decode_into() with a place of its
// own.
#include "wire/codec.hpp"

#include "wire/codec_parts.hpp"

namespace switchyard::wire {
namespace {

template <class Value, class Message>
Result<Value> decoded(const Message& from) {
    Result<Value> result = Value{};
    SY_CHECK(decode_into(from, *result));
    return result;
}

}  // namespace

Result<model::JobSpec> decode(const JobSpec& from) { return decoded<model::JobSpec>(from); }
Result<model::Allocation> decode(const Allocation& from) {
    return decoded<model::Allocation>(from);
}
Result<model::NodeGrant> decode(const NodeGrant& from) { return decoded<model::NodeGrant>(from); }
Result<model::Outcome> decode(const Outcome& from) { return decoded<model::Outcome>(from); }
Result<model::Job> decode(const Job& from) { return decoded<model::Job>(from); }
Result<model::StepSpec> decode(const StepSpec& from) { return decoded<model::StepSpec>(from); }
Result<model::StepLayout> decode(const StepLayout& from) {
    return decoded<model::StepLayout>(from);
}
Result<model::Step> decode(const Step& from) { return decoded<model::Step>(from); }
Result<model::GresInventory> decode(const GresInventory& from) {
    return decoded<model::GresInventory>(from);
}
Result<model::GresGrant> decode(const GresGrant& from) { return decoded<model::GresGrant>(from); }
model::CardUse decode(const CardUse& from) {
    model::CardUse use;
    (void)decode_into(from, use);
    return use;
}
Result<model::NodeFacts> decode(const NodeFacts& from) { return decoded<model::NodeFacts>(from); }
Result<model::Node> decode(const Node& from) { return decoded<model::Node>(from); }
Result<model::Partition> decode(const Partition& from) { return decoded<model::Partition>(from); }
Result<model::Trigger> decode(const Trigger& from) { return decoded<model::Trigger>(from); }
Result<model::JobSelector> decode(const JobSelector& from) {
    return decoded<model::JobSelector>(from);
}
Result<model::JobUpdate> decode(const JobUpdate& from) { return decoded<model::JobUpdate>(from); }
Result<model::NodeUpdate> decode(const NodeUpdate& from) {
    return decoded<model::NodeUpdate>(from);
}
Result<model::PartitionUpdate> decode(const PartitionUpdate& from) {
    return decoded<model::PartitionUpdate>(from);
}
Result<model::Reservation> decode(const Reservation& from) {
    return decoded<model::Reservation>(from);
}
Result<model::ReservationUpdate> decode(const ReservationUpdate& from) {
    return decoded<model::ReservationUpdate>(from);
}

}  // namespace switchyard::wire
