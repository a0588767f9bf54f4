// codec_spec.cpp: what a user asked for, by the table of its fields, and the script that goes with
// it.
#include "wire/codec_fields.hpp"

namespace switchyard::wire {

SY_CODEC(JobSpec, SY_JOB_SPEC_FIELDS)

void encode(model::JobPayload from, JobPayload* to) {
    to->set_script(std::move(from.script));
    for (std::string& each : from.arguments) to->add_arguments(std::move(each));
    to->mutable_environment()->Reserve(static_cast<int>(from.environment.size()));
    for (std::string& each : from.environment) to->add_environment(std::move(each));
    for (const model::ResourceLimit& each : from.limits) {
        ResourceLimit* limit = to->add_limits();
        limit->set_resource(each.resource);
        limit->set_soft(each.soft);
        limit->set_hard(each.hard);
    }
    to->set_umask(from.umask);
}

model::JobPayload decode(const JobPayload& from) {
    model::JobPayload to;
    to.script = from.script();
    to.arguments = strings_of(from.arguments());
    to.environment = strings_of(from.environment());
    for (const ResourceLimit& each : from.limits())
        to.limits.push_back({each.resource(), each.soft(), each.hard()});
    to.umask = from.umask();
    return to;
}

}  // namespace switchyard::wire
