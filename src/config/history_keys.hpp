// history_keys.hpp: the keys about what is measured of running steps and how long what has ended is
// kept.
#pragma once

#include <string_view>

#include "config/config.hpp"

namespace switchyard::config {

// "30", "task=30,energy=0": seconds between two looks at what tasks use.
Status set_sample_frequency(Config& config, std::string_view value);
// "12", "12months", "30days", "48hours", as in slurmdbd.conf; a bare number is months.
Status set_purge_jobs_after(Config& config, std::string_view value);
Status set_purge_steps_after(Config& config, std::string_view value);
// "job_comment,job_env,job_extra,job_script,no_stdio"
Status set_accounting_store_flags(Config& config, std::string_view value);

}  // namespace switchyard::config
