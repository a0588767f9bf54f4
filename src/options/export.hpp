// export.hpp: which variables of the caller's environment a job or step gets.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace switchyard::options {

using Environment = std::vector<std::string>;  // "K=V"

// Sets or replaces a variable; removes one.
void set_variable(Environment& environment, std::string_view name, std::string_view value);
void unset_variable(Environment& environment, std::string_view name);
std::string_view get_variable(const Environment& environment,
                              std::string_view name);  // "" when unset.

enum class ExportMode { All, None, Nil, Some };
ExportMode export_mode(std::string_view list);

// The variables that an --export list names, in the order of the list: ALL, names whose present
// value is handed on, and K=V with quotes around commas. SLURM_* always goes along, except with
// NIL.
Environment exported(Environment caller, std::string_view list);

// What a job around this command has set about itself: numbers and names that are false in another
// job. Input variables that the user set (SLURM_CONF, SLURM_TIME_FORMAT, SBATCH_*, ...) stay.
bool describes_a_job(std::string_view name);
void remove_job_description(Environment& environment);

}  // namespace switchyard::options
