// codec_trigger.cpp: what strigger sets.
#include "wire/codec_parts.hpp"

namespace switchyard::wire {

void encode(const model::Trigger& from, Trigger* to) {
    to->set_id(from.id);
    to->set_resource(number_of(from.resource));
    to->set_type(number_of(from.type));
    to->set_job(from.job.value);
    put_strings(from.nodes, to->mutable_nodes());
    to->set_offset(from.offset.count());
    to->set_uid(from.uid);
    to->set_gid(from.gid);
    to->set_user(from.user);
    to->set_program(from.program);
    to->set_permanent(from.permanent);
    if (!from.fired) return;
    to->set_due(millis_of(from.fired->due));
    to->set_argument(from.fired->argument);
}

Status decode_into(const Trigger& from, model::Trigger& to) {
    to.id = from.id();
    SY_CHECK(
        read_enum(from.resource(), model::TriggerResource::Controller, "resource", to.resource));
    SY_CHECK(read_enum(from.type(), model::kTriggerTypeLast, "type", to.type));
    to.job = JobId{from.job()};
    to.nodes = strings_of(from.nodes());
    to.offset = Seconds{from.offset()};
    to.uid = from.uid();
    to.gid = from.gid();
    to.user = from.user();
    to.program = from.program();
    to.permanent = from.permanent();
    if (from.has_due()) to.fired = {instant_of(from.due()), from.argument()};
    return {};
}

}  // namespace switchyard::wire
