#include "controller/programs/trigger_programs.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace switchyard::controller {

TriggerPrograms::TriggerPrograms(io::Loop& loop, os::Log& log)
    : log_(log), programs_(loop, [this](const ProgramOrder& order, const Status& status) {
          if (!status) log_.info("{} of uid={}: {}", order.what, order.uid, status.error().message);
      }) {}

void TriggerPrograms::run(const core::effect::RunTrigger& order, const std::string& config_path) {
    const model::Trigger& trigger = order.trigger;
    log_.about(os::Log::Topic::Triggers, "trigger {} of uid={}: {} {}", trigger.id, trigger.uid,
               trigger.program, order.argument);
    ProgramOrder program{
        .what = fmt::format("trigger {}", trigger.id),
        // Where we cannot become others, root's are ours.
        .uid = trigger.uid == 0 ? uid_to_run_as(0) : trigger.uid,
        .gid = trigger.gid,
        .argv = {},
        .environment = {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
                        "USER=" + trigger.user, "LOGNAME=" + trigger.user,
                        "SLURM_CONF=" + config_path}};
    for (const std::string_view word : split(trigger.program, ' ')) {
        if (!word.empty()) program.argv.emplace_back(word);
    }
    if (!order.argument.empty()) program.argv.push_back(order.argument);
    if (const Status taken = programs_.run(std::move(program)); !taken)
        log_.error("the program of trigger {} of uid={} is not run: {}", trigger.id, trigger.uid,
                   taken.error().message);
}

}  // namespace switchyard::controller
