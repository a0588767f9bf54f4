// main.cpp: one executable for every command and daemon. Which one it is, argv[0] says.
#include "agent/main.hpp"
#include "controller/main.hpp"
#include "controller/programs/run_program.hpp"
#include "programs.hpp"
#include "stepd/main.hpp"

namespace {

using namespace switchyard;

constexpr Program kOtherPrograms[] = {
    {"switchyard", cli::switchyard_main},
    {"srun", cli::srun_main},
    {"salloc", cli::salloc_main},
    {"sattach", cli::sattach_main},
    {"sbcast", cli::sbcast_main},
    {"slurmctld", controller::controller_main},
    {"slurmd", agent::agent_main},
    {"slurmstepd", stepd::stepd_main},
    {controller::kRunProgramName, controller::run_program_main},
};

const Program* find(std::string_view name) {
    const Program* program = find_program(kAskingPrograms, name);
    return program != nullptr ? program : find_program(kOtherPrograms, name);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 1) return 1;
    const Program* program = find(called_name(argv[0]));
    // `switchyard sbatch ...` is sbatch, also under a name that is none of ours.
    if ((program == nullptr || program->name == "switchyard") && argc > 1) {
        if (const Program* command = find(argv[1]); command != nullptr) {
            return command->main(argc - 1, argv + 1);
        }
    }
    return program != nullptr ? program->main(argc, argv) : cli::switchyard_main(argc, argv);
}
