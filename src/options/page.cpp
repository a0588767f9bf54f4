#include "options/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "options/setters.hpp"

namespace switchyard::options {
namespace {

constexpr std::string_view kHead =
    "# Options of sbatch, salloc and srun\n"
    "\n"
    "Every option of Slurm 25.11 and what becomes of it. This page is made from the table in\n"
    "`src/options`; `options_test` fails when they differ, and `SY_WRITE=1 options_test` writes "
    "it\n"
    "anew.\n"
    "\n"
    "**works**; **in part**: works but for what is named, and says so; **warned**: the job runs\n"
    "without it, and the command says so; **refused**: the command ends with a message.\n"
    "Variables are given in the order of the commands; of several the last that is set counts. "
    "The\n"
    "command line outweighs variables, and variables outweigh `#SBATCH` lines.\n"
    "\n"
    "| option | commands | what becomes of it | variables |\n"
    "|---|---|---|---|\n";

// Read by the commands themselves.
constexpr std::string_view kTail =
    "\n"
    "## Variables that are no option\n"
    "\n"
    "| variable | commands | |\n"
    "|---|---|---|\n"
    "| `SLURM_CONF` | all | the configuration file |\n"
    "| `SLURM_EXIT_ERROR`, `SLURM_EXIT_IMMEDIATE` | all | exit codes of errors, and of `-I` in "
    "vain |\n"
    "| `SLURM_UMASK` | all | handed on in place of the umask |\n"
    "| `SLURM_TIME_FORMAT` | all | how times are written |\n"
    "| `SLURM_HOSTFILE` | srun | nodes of `--distribution=arbitrary`, where `-w` names none |\n"
    "| `SLURM_SRUN_REDUCE_TASK_EXIT_MSG` | srun | equal exits are told once |\n"
    "| `SLURM_TEST_EXEC` | srun | the program must exist on srun's own host |\n"
    "| `SLURM_DIST_PLANESIZE` | srun | size for `--distribution=plane` |\n"
    "| `SBATCH_WAIT4SWITCH`, `SALLOC_WAIT4SWITCH`, `SLURM_WAIT4SWITCH` | all | no effect: see "
    "`--switches` |\n"
    "| `SLURM_DEBUG_FLAGS`, `SLURM_PMI_KVS_NO_DUP_KEYS`, `SLURM_STEP_KILLED_MSG_NODE_ID` | all | "
    "no effect: there is nothing they would change |\n";

std::string commands_of(const Option& option) {
    std::vector<std::string> names;
    for (const Command command : {Command::Sbatch, Command::Salloc, Command::Srun}) {
        if (option.applies_to(command)) names.emplace_back(to_string(command));
    }
    return names.size() == 3 ? "all" : join(names, ", ");
}

std::string variables_of(const Option& option) {
    std::vector<std::string> names;
    for (const Command command : {Command::Sbatch, Command::Salloc, Command::Srun}) {
        for (const std::string_view name : split(option.variables_of(command), ' ')) {
            std::string text = fmt::format("`{}`", name);
            if (!name.empty() && std::ranges::find(names, text) == names.end())
                names.push_back(std::move(text));
        }
    }
    return join(names, " ");
}

std::string_view word_of(Fate fate) {
    switch (fate) {
        case Fate::Works:
            return "works";
        case Fate::InPart:
            return "in part";
        case Fate::Warned:
            return "warned";
        case Fate::Refused:
            return "refused";
    }
    return "";
}

std::string story_of(const Option& option) {
    if (!option.same_as.empty()) return fmt::format("as `--{}`", option.same_as);
    const std::string_view word = word_of(fate_of(option));
    return option.why.empty() ? std::string(word) : fmt::format("{}: {}", word, option.why);
}

std::string name_of(const Option& option) {
    std::string name = option.letter != 0 ? fmt::format("`-{}`, `--{}", option.letter, option.name)
                                          : fmt::format("`--{}", option.name);
    return name + "`";
}

}  // namespace

Fate fate_of(const Option& option) {
    if (option.set == refuse || option.refused) return Fate::Refused;
    if (option.why.empty()) return Fate::Works;
    return option.help.empty() && option.same_as.empty() ? Fate::Warned : Fate::InPart;
}

std::string options_page() {
    std::string page(kHead);
    for (const Option* option : all_options()) {
        page += fmt::format("| {} | {} | {} | {} |\n", name_of(*option), commands_of(*option),
                            story_of(*option), variables_of(*option));
    }
    return page + std::string(kTail);
}

}  // namespace switchyard::options
