#include "model/trigger.hpp"

#include "model/hostlist.hpp"

namespace switchyard::model {

std::string_view to_string(TriggerResource resource) {
    switch (resource) {
        case TriggerResource::Job:
            return "job";
        case TriggerResource::Node:
            return "node";
        case TriggerResource::Controller:
            return "slurmctld";
    }
    return "unknown";
}

std::string_view to_string(TriggerType type) {
    switch (type) {
        case TriggerType::Up:
            return "up";
        case TriggerType::Down:
            return "down";
        case TriggerType::Drained:
            return "drained";
        case TriggerType::Draining:
            return "draining";
        case TriggerType::Fail:
            return "fail";
        case TriggerType::Resume:
            return "resume";
        case TriggerType::Idle:
            return "idle";
        case TriggerType::Reconfig:
            return "reconfig";
        case TriggerType::Time:
            return "time";
        case TriggerType::Fini:
            return "fini";
        case TriggerType::ControllerResumed:
            return "primary_slurmctld_resumed_operation";
    }
    return "unknown";
}

std::string resource_id(const Trigger& trigger) {
    if (trigger.resource == TriggerResource::Job) return std::to_string(trigger.job.value);
    if (trigger.nodes.empty()) return "*";
    return compress_hostlist(trigger.nodes);
}

}  // namespace switchyard::model
