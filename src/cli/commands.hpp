// commands.hpp: the commands, each a main() of its own. argv[0] is the command's name.
#pragma once

namespace switchyard::cli {

using Main = int (*)(int argc, char** argv);

int sbatch_main(int argc, char** argv);
int srun_main(int argc, char** argv);
int salloc_main(int argc, char** argv);
int squeue_main(int argc, char** argv);
int sinfo_main(int argc, char** argv);
int scancel_main(int argc, char** argv);
int scontrol_main(int argc, char** argv);
int sattach_main(int argc, char** argv);
int sbcast_main(int argc, char** argv);
int scrontab_main(int argc, char** argv);
int skill_main(int argc, char** argv);
int sacct_main(int argc, char** argv);
int sacctmgr_main(int argc, char** argv);
int sdiag_main(int argc, char** argv);
int seff_main(int argc, char** argv);
int sprio_main(int argc, char** argv);
int sshare_main(int argc, char** argv);
int sstat_main(int argc, char** argv);
int strigger_main(int argc, char** argv);
int swait_main(int argc, char** argv);
int switchyard_main(int argc, char** argv);  // up, down, status, version, help

}  // namespace switchyard::cli
