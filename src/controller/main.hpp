#pragma once

namespace switchyard::controller {
int controller_main(int argc, char** argv);  // slurmctld [-D] [-f slurm.conf] [-v] [-V]
}
