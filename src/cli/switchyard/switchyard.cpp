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
  status    show its health: daemons, nodes, jobs, disks, last errors
  version   show the version
  help      show this, or the options of a verb: switchyard help up
  man       print the manual page of a command: switchyard man sbatch

The commands of the cluster are links to this program; "switchyard squeue -l" is "squeue -l":

  sacct sacctmgr salloc sattach sbatch sbcast scancel scontrol scrontab sdiag seff sinfo skill
  sprio squeue srun sshare sstat strigger swait, and the daemons slurmctld, slurmd, slurmstepd
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
    return verb.empty() ? std::string(kUsage) : help_of_verb(verb);
}

int switchyard_main(int argc, char** argv) {
    const Arguments all(argv + 1, argv + argc);
    if (all.empty()) {
        std::fputs(std::string(kUsage).c_str(), stderr);
        return 1;
    }
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // Each line is shown before the next step.
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
