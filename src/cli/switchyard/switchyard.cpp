// switchyard.cpp: the command of the project's own name: clusters from nothing, and what is known
// of them.
#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "base/version.hpp"
#include "cli/commands.hpp"
#include "cli/message.hpp"
#include "cli/switchyard/verbs.hpp"

namespace switchyard::cli {
namespace {

constexpr std::string_view kUsage =
    R"(Usage: switchyard VERB [OPTIONS...]

  up        start a cluster on this machine, from nothing
  down      stop it; its queue and its records stay
  status    show daemons, nodes, jobs and folders
  version   show the version
  help      show this, or the options of a verb: switchyard help up
  man       print the manual page of a command: switchyard man sbatch

Every other command (sbatch, srun, salloc, squeue, scancel, sinfo, scontrol, slurmctld, slurmd)
is a link to this program; "switchyard squeue -l" is "squeue -l".
)";

constexpr std::string_view kUpUsage =
    R"(Usage: switchyard up [OPTIONS...]

Starts a cluster on this machine and waits until its nodes are ready. Run again, it starts what is
not running and leaves the rest alone. As root the cluster serves all users, else only you.

  --nodes=N       N pretend nodes n1..nN on this machine (default: one node, the machine itself)
  --cpus=C        CPUs of each node (default: all that the machine has)
  --memory=M      memory of each node: 4000M, 16G (default: the machine's, divided by N)
  --gres=LIST     generic resources of each node: gpu:2 (default: the machine's cards, divided by N)
  --name=NAME     name of the cluster (default: local); several run side by side
  --dir=FOLDER    where it lives (default: /var/lib/switchyard/NAME, or ~/.switchyard/NAME)
  --foreground    stay until interrupted, then take the cluster down
)";

constexpr std::string_view kDownUsage =
    R"(Usage: switchyard down [OPTIONS...]

Ends the cluster's running jobs and stops its daemons. Pending jobs stay in the queue and run after
the next "switchyard up".

  --keep-jobs     stop only the daemons; running jobs go on and are found again by "switchyard up"
  --name=NAME     name of the cluster (default: the one of SLURM_CONF if "up" made it, else local)
  --dir=FOLDER    where it lives, if not in its usual place
)";

constexpr std::string_view kStatusUsage =
    R"(Usage: switchyard status [OPTIONS...]

Shows the daemons, nodes, jobs and folders of a cluster. Exits with 0 if everything runs, else 1.

  --name=NAME     name of the cluster (default: the one of SLURM_CONF if "up" made it, else local)
  --dir=FOLDER    where it lives, if not in its usual place
)";

int show_help(const Arguments& arguments) {
    const std::string verb = arguments.empty() ? "" : arguments.front();
    const std::string text = usage(verb);
    if (text.empty()) return complain(fmt::format("there is no verb \"{}\"", verb));
    std::fputs(text.c_str(), stdout);
    return 0;
}

int show_version() {
    std::fputs(fmt::format("switchyard {} ({})\n", SY_VERSION, kVersionLine).c_str(), stdout);
    return 0;
}

}  // namespace

int complain(const std::string& text) {
    say_error("switchyard", text);
    return 1;
}

std::string usage(const std::string& verb) {
    if (verb.empty()) return std::string(kUsage);
    if (verb == "up") return std::string(kUpUsage);
    if (verb == "down") return std::string(kDownUsage);
    if (verb == "status") return std::string(kStatusUsage);
    return {};
}

int switchyard_main(int argc, char** argv) {
    const Arguments all(argv + 1, argv + argc);
    if (all.empty()) {
        std::fputs(std::string(kUsage).c_str(), stderr);
        return 1;
    }
    const std::string& verb = all.front();
    const Arguments arguments(all.begin() + 1, all.end());
    if (verb == "up") return switchyard_up(arguments);
    if (verb == "down") return switchyard_down(arguments);
    if (verb == "status") return switchyard_status(arguments);
    if (verb == "man") return switchyard_man(arguments);
    if (verb == "version" || verb == "--version" || verb == "-V") return show_version();
    if (verb == "help" || verb == "--help" || verb == "-h") return show_help(arguments);
    complain(fmt::format("there is no verb \"{}\"", verb));
    say_try_help("switchyard");
    return 1;
}

}  // namespace switchyard::cli
