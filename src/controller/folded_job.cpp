#include "controller/folded_job.hpp"

#include "controller/wire_fields.hpp"
#include "wire/proto/model.pb.h"

namespace switchyard::controller {

FoldedJob look_at_folded(std::string_view job) {
    FoldedJob found;
    WireFields fields(job);
    while (const auto field = fields.next()) {
        switch (field->number) {
            case wire::Job::kPendingFieldNumber:
                found.pending = true;
                break;
            case wire::Job::kRunningFieldNumber:
                found.running = true;
                break;
            case wire::Job::kEndedFieldNumber:
                found.ended = true;
                break;
            case wire::Job::kArrayFieldNumber:
                found.in_array = true;
                break;
            case wire::Job::kPartitionFieldNumber:
                found.partition = field->value;
                break;
            default:
                break;
        }
    }
    return found;
}

}  // namespace switchyard::controller
