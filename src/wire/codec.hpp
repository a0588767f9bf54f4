// codec.hpp: between the values of src/model and their messages. One pair of functions a type; what
// a newer peer sends and we do not know is ignored, what it lacks has its default.
#pragma once

#include "base/result.hpp"
#include "model/job.hpp"
#include "model/job_spec.hpp"
#include "model/node.hpp"
#include "model/partition.hpp"
#include "model/reservation.hpp"
#include "model/step.hpp"
#include "model/trigger.hpp"
#include "model/update.hpp"
#include "wire/proto/model.pb.h"
#include "wire/proto/request.pb.h"

namespace switchyard::wire {

void encode(const model::JobSpec& from, JobSpec* to);
void encode(model::JobPayload from, JobPayload* to);
void encode(const model::Allocation& from, Allocation* to);
void encode(const model::NodeGrant& from, NodeGrant* to);
void encode(const model::Outcome& from, Outcome* to);
void encode(const model::Job& from, Job* to);
void encode(const model::StepSpec& from, StepSpec* to);
void encode(const model::StepLayout& from, StepLayout* to);
void encode(const model::HetStep& from, HetStep* to);
void encode(const model::Step& from, Step* to);
void encode(const model::StepUsage& from, StepUsage* to);
void encode_key(const switchyard::StepKey& from, StepKey* to);
void encode(const model::GresInventory& from, GresInventory* to);
void encode(const model::GresGrant& from, GresGrant* to);
void encode(const model::CardUse& from, CardUse* to);
void encode(const model::NodeFacts& from, NodeFacts* to);
void encode(const model::Node& from, Node* to);
void encode(const model::Partition& from, Partition* to);
void encode(const model::Trigger& from, Trigger* to);
void encode(const model::JobSelector& from, JobSelector* to);
void encode(const model::JobUpdate& from, JobUpdate* to);
void encode(const model::NodeUpdate& from, NodeUpdate* to);
void encode(const model::PartitionUpdate& from, PartitionUpdate* to);
void encode(const model::Reservation& from, Reservation* to);
void encode(const model::ReservationUpdate& from, ReservationUpdate* to);

// Malformed index sets and out-of-range enumerators are InvalidArgument: the peer is not trusted.
Result<model::JobSpec> decode(const JobSpec& from);
model::JobPayload decode(const JobPayload& from);
Result<model::Allocation> decode(const Allocation& from);
Result<model::NodeGrant> decode(const NodeGrant& from);
Result<model::Outcome> decode(const Outcome& from);
Result<model::Job> decode(const Job& from);
Status decode_into(const Job& from, model::Job& to);  // The same without a copy, for long lists.
Result<model::StepSpec> decode(const StepSpec& from);
Result<model::StepLayout> decode(const StepLayout& from);
model::HetStep decode(const HetStep& from);
Result<model::Step> decode(const Step& from);
model::StepUsage decode(const StepUsage& from);
switchyard::StepKey decode(const StepKey& from);
Result<model::GresInventory> decode(const GresInventory& from);
Result<model::GresGrant> decode(const GresGrant& from);
model::CardUse decode(const CardUse& from);
Result<model::NodeFacts> decode(const NodeFacts& from);
Result<model::Node> decode(const Node& from);
Result<model::Partition> decode(const Partition& from);
Result<model::Trigger> decode(const Trigger& from);
Result<model::JobSelector> decode(const JobSelector& from);
Result<model::JobUpdate> decode(const JobUpdate& from);
Result<model::NodeUpdate> decode(const NodeUpdate& from);
Result<model::PartitionUpdate> decode(const PartitionUpdate& from);
Result<model::Reservation> decode(const Reservation& from);
Result<model::ReservationUpdate> decode(const ReservationUpdate& from);

}  // namespace switchyard::wire
