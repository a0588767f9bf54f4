// launcher_environment.hpp: by these variables the launchers of MPI libraries (mpirun, mpiexec)
// start their own daemons with "srun --external-launcher".
#pragma once

#include <string_view>
#include <utility>
#include <vector>

namespace switchyard::model {

// `has` tells what the environment holds already: who has chosen how Hydra starts keeps it.
template <typename Has>
std::vector<std::pair<std::string_view, std::string_view>> launcher_variables(Has has) {
    constexpr std::string_view kArguments = "--external-launcher";
    std::vector<std::pair<std::string_view, std::string_view>> variables{
        {"OMPI_MCA_plm_slurm_args", kArguments}, {"PRTE_MCA_plm_slurm_args", kArguments}};
    if (!has("HYDRA_BOOTSTRAP")) {
        variables.emplace_back("HYDRA_BOOTSTRAP", "slurm");
        variables.emplace_back("HYDRA_LAUNCHER_EXTRA_ARGS", kArguments);
    }
    if (!has("I_MPI_HYDRA_BOOTSTRAP")) {
        variables.emplace_back("I_MPI_HYDRA_BOOTSTRAP", "slurm");
        variables.emplace_back("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", kArguments);
    }
    return variables;
}

}  // namespace switchyard::model
