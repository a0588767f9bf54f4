// programs.hpp: which name is which program. Those that ask the controller one thing and print the
// answer stand by themselves: they are linked once more without a loader (src/start/README.md), and
// cmake/Install.cmake reads their names here.
#pragma once

#include <span>
#include <string_view>

#include "cli/commands.hpp"

namespace switchyard {

struct Program {
    std::string_view name;
    cli::Main main;
};

inline constexpr Program kAskingPrograms[] = {
    {"sbatch", cli::sbatch_main},     {"squeue", cli::squeue_main},
    {"sinfo", cli::sinfo_main},       {"scancel", cli::scancel_main},
    {"scontrol", cli::scontrol_main}, {"scrontab", cli::scrontab_main},
    {"skill", cli::skill_main},       {"sacct", cli::sacct_main},
    {"sacctmgr", cli::sacctmgr_main}, {"sdiag", cli::sdiag_main},
    {"seff", cli::seff_main},         {"sprio", cli::sprio_main},
    {"sshare", cli::sshare_main},     {"sstat", cli::sstat_main},
    {"strigger", cli::strigger_main}, {"swait", cli::swait_main},
};

inline const Program* find_program(std::span<const Program> programs, std::string_view name) {
    for (const Program& program : programs) {
        if (program.name == name) return &program;
    }
    return nullptr;
}

// The name by which a program was called. Where the name skill is ours, procps' link from snice to
// it leads here too.
inline std::string_view called_name(std::string_view path) {
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name == "snice" ? "skill" : name;
}

}  // namespace switchyard
