// steps_begun.cpp: a batch script begins once: what the journal says of those that began here.
#include <fmt/format.h>

#include "agent/steps.hpp"
#include "wire/codec.hpp"
#include "wire/proto/node.pb.h"

namespace switchyard::agent {

bool Steps::began_before(const StepKey& key, const wire::LaunchStep& launch) {
    if (key.step != kBatchStep) return false;
    const Journal::Script* begun =
        journal_.find({key.job, key.attempt}, Instant{Millis{launch.job().submitted()}});
    if (begun == nullptr) return false;
    log_.error(fmt::format("{}: its script began here before and is not begun again",
                           model::to_string(key)));
    wire::StepReport report;
    wire::encode_key(key, report.mutable_key());
    report.set_begun_before(true);
    report.set_job_clean(true);
    report.set_lost(!begun->end || begun->end->lost);
    if (begun->end) {
        report.mutable_exit()->set_code(begun->end->exit.code);
        report.mutable_exit()->set_signal(begun->end->exit.signal);
        report.set_timed_out(begun->end->timed_out);
        report.set_out_of_memory(begun->end->out_of_memory);
    }
    finish(key, std::move(report));
    return true;
}

void Steps::note_end(const StepKey& key, const wire::StepReport& report) {
    if (key.step != kBatchStep) return;
    journal_.end({key.job, key.attempt},
                 {.at = loop_.now(),
                  .exit = {.code = report.exit().code(), .signal = report.exit().signal()},
                  .timed_out = report.timed_out(),
                  .out_of_memory = report.out_of_memory(),
                  .lost = report.lost() || !report.launch_error().empty()});
}

void Steps::report_begun() {
    wire::AgentToController message;
    wire::BegunScripts& all = *message.mutable_begun_scripts();
    for (const auto& [job, script] : journal_.scripts()) {
        wire::BegunScript& out = *all.add_scripts();
        out.set_job(job.first.value);
        out.set_attempt(job.second.value);
        out.set_array_job(script.array.value);
        out.set_array_task(script.element);
        out.set_submitted(script.submitted.time_since_epoch().count());
        out.set_began(script.began.time_since_epoch().count());
        if (!script.end) continue;
        out.set_ended(script.end->at.time_since_epoch().count());
        if (script.end->lost) continue;
        out.mutable_exit()->set_code(script.end->exit.code);
        out.mutable_exit()->set_signal(script.end->exit.signal);
    }
    send_(message);
}

}  // namespace switchyard::agent
