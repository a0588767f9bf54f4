#pragma once

namespace switchyard::agent {
int agent_main(int argc, char** argv);  // slurmd [-D] [-N name] [-f slurm.conf] [-C] [-G] [-v] [-V]
}
