// het.hpp: heterogeneous jobs and steps on a command line and in a script: components separated by
// ":" or "#SBATCH hetjob", each with options of its own and those that pass on from the one before.
#pragma once

#include <string>
#include <vector>

#include "options/job_request.hpp"
#include "options/script.hpp"

namespace switchyard::options {

// The words of each component, every one with the command's name in front. `operands`: the command
// or script of the last (sbatch, salloc); those of each stay with it for srun.
struct Line {
    std::vector<std::vector<std::string>> components;
    std::vector<std::string> operands;
};
Outcome split_line(Command command, const std::vector<std::string>& words,
                   const Surroundings& surroundings, Line& line);

// The directives of each component; at least one, which may be empty.
std::vector<std::vector<Directive>> split_directives(const std::vector<Directive>& directives);

// What the next component begins with: options about the job as a whole pass on, sizes do not.
JobRequest next_component(const JobRequest& before);

// The requests of all components of sbatch or salloc, from script, variables and command line.
Outcome understand_components(Command command, const Line& line,
                              const std::vector<std::vector<Directive>>& directives,
                              const Surroundings& surroundings, std::vector<JobRequest>& requests);

// "0", "1,3-4": the components that srun --het-group names. None: malformed.
std::optional<std::vector<std::uint32_t>> parse_het_groups(std::string_view text);

// The caller's environment as srun sees it for one component of the job around it.
Surroundings of_group(const Surroundings& surroundings, std::uint32_t group);

}  // namespace switchyard::options
