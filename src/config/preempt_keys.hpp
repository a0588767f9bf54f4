// preempt_keys.hpp: the keys about jobs that make room for others.
#pragma once

#include <string_view>

#include "config/config.hpp"
#include "config/findings.hpp"

namespace switchyard::config {

Status set_preempt_type(Config& config, std::string_view value);
Status set_preempt_mode(Config& config, std::string_view value);
Status set_preempt_exempt_time(Config& config, std::string_view value);
Status set_preempt_parameters(Config& config, std::string_view value);
// What is wrong, or without effect, in what they say together.
void check_preemption(const Config& config, Findings& findings);

}  // namespace switchyard::config
