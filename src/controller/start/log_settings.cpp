#include "controller/start/log_settings.hpp"

#include <algorithm>
#include <string_view>

#include "base/log_level.hpp"
#include "base/text.hpp"

namespace switchyard::controller {

void apply_log_settings(const config::Config& config, os::Log& log) {
    using Topic = os::Log::Topic;
    const std::uint32_t said = parse_log_level(config.controller_debug).value_or(kLogInfo);
    log.set_level(std::max(said, log.least_level()));
    log.clear_topics();
    log.set_topic(Topic::Scheduler, config.sched_log);
    if (const Status opened = log.divert(Topic::Scheduler, config.sched_log_file); !opened)
        log.error(opened.error().message);
    for (const std::string_view piece : split(config.debug_flags, ',')) {
        const std::string_view name = trim(piece);
        if (name.empty()) continue;
        if (const auto topic = os::Log::find_topic(name)) {
            log.set_topic(*topic, true);
        } else {
            log.info("DebugFlags: {}: there is nothing to log about it", name);
        }
    }
}

}  // namespace switchyard::controller
