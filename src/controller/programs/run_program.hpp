// run_program.hpp: `slurmctld-run`, the process between the controller and a program that it runs
// for a user.
//
// To start a program is to open files that may be the user's: one with a lease on it, or on a mount
// that does not answer, holds up whoever starts it. The controller starts this instead, which is
// its own executable; it looks up the user's groups, becomes the user and then the program. What
// hangs is this process, which has a time limit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace switchyard::controller {

inline constexpr std::string_view kRunProgramName = "slurmctld-run";
// Where it says why it could not become the program; closed once it is.
inline constexpr int kRunProgramReport = 3;

struct ProgramOrder;

// Its command line.
std::vector<std::string> run_program_arguments(const ProgramOrder& order);

int run_program_main(int argc, char** argv);

}  // namespace switchyard::controller
