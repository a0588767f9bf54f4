// main.cpp: one executable for every command and daemon. Which one it is, argv[0] says.
#include <cstdio>
#include <string_view>

#include "agent/main.hpp"
#include "cli/commands.hpp"
#include "controller/main.hpp"
#include "stepd/main.hpp"

namespace {

using namespace switchyard;

struct Entry {
    std::string_view name;
    cli::Main main;
};

constexpr Entry kEntries[] = {
    {"switchyard", cli::switchyard_main},
    {"sbatch", cli::sbatch_main},
    {"srun", cli::srun_main},
    {"salloc", cli::salloc_main},
    {"squeue", cli::squeue_main},
    {"sinfo", cli::sinfo_main},
    {"scancel", cli::scancel_main},
    {"scontrol", cli::scontrol_main},
    {"sattach", cli::sattach_main},
    {"sbcast", cli::sbcast_main},
    {"scrontab", cli::scrontab_main},
    {"skill", cli::skill_main},
    {"sacct", cli::sacct_main},
    {"sacctmgr", cli::sacctmgr_main},
    {"sdiag", cli::sdiag_main},
    {"seff", cli::seff_main},
    {"sprio", cli::sprio_main},
    {"sshare", cli::sshare_main},
    {"sstat", cli::sstat_main},
    {"strigger", cli::strigger_main},
    {"swait", cli::swait_main},
    {"slurmctld", controller::controller_main},
    {"slurmd", agent::agent_main},
    {"slurmstepd", stepd::stepd_main},
};

const Entry* find(std::string_view name) {
    for (const Entry& entry : kEntries) {
        if (entry.name == name) return &entry;
    }
    return nullptr;
}

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

int main(int argc, char** argv) {
    if (argc < 1) return 1;
    // Where the name skill is ours, procps' link from snice to it leads here too.
    const std::string_view called = base_name(argv[0]);
    const Entry* entry = find(called == "snice" ? "skill" : called);
    // `switchyard sbatch ...` is sbatch, also under a name that is none of ours.
    if ((entry == nullptr || entry->name == "switchyard") && argc > 1) {
        if (const Entry* command = find(argv[1]); command != nullptr) {
            return command->main(argc - 1, argv + 1);
        }
    }
    return entry != nullptr ? entry->main(argc, argv) : cli::switchyard_main(argc, argv);
}
