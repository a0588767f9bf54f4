// option.hpp: one entry of the option table: the names of an option, where it may stand, what it
// says in the help, and how its value is stored.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/job_request.hpp"

namespace switchyard::options {

using Commands = std::uint8_t;  // A set of Command bits.
inline constexpr Commands kSbatch = 1, kSalloc = 2, kSrun = 4;
inline constexpr Commands kAllocators = kSbatch | kSalloc | kSrun;

enum class Argument : std::uint8_t { None, Required, Optional };

// Headings of --help.
enum class Group : std::uint8_t { Run, Constraints, Consumable, Gpu, Affinity, Notes, Help };

struct Option;

// One use of an option.
struct Setting {
    JobRequest& request;
    const Option& option;
    std::string_view value;  // Empty for a flag.
    bool has_value;
    Source source;
    const Surroundings& surroundings;
    std::string shown;  // What -v shows; the value as given unless the setter says better.
};

struct Option {
    std::string_view name;
    char letter = 0;
    Argument argument = Argument::None;
    Commands commands = kAllocators;
    // Input variables, blank separated; of several that are set, the last wins.
    std::string_view sbatch_variables = {}, salloc_variables = {}, srun_variables = {};
    Group group = Group::Run;
    std::string_view value_name = {};  // In the help: --name=VALUE.
    std::string_view help = {};        // Empty: a second spelling or a retired option, not listed.
    Outcome (*set)(Setting& setting) = nullptr;
    std::string_view why = {};  // For options that are not supported: what to say.
    std::string_view same_as =
        {};                // Of a second spelling: the long name of the option it stands for.
    bool refused = false;  // Whatever its value: `set` says why in words of its own.

    bool applies_to(Command command) const {
        return (commands & static_cast<Commands>(command)) != 0;
    }
    std::string_view variables_of(Command command) const;
};

// The table, in parts by subject.
std::span<const Option> run_options();
std::span<const Option> command_options();
std::span<const Option> place_options();
std::span<const Option> time_options();
std::span<const Option> node_and_task_options();
std::span<const Option> node_shape_options();
std::span<const Option> gres_options();
std::span<const Option> step_options();
std::span<const Option> hint_options();
std::span<const Option> refused_options();

// All parts together, as they stand in the source.
std::vector<const Option*> options_by_part();
// The same in the order of the long names.
std::span<const Option* const> all_options();

}  // namespace switchyard::options
