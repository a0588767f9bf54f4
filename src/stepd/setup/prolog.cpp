// prolog.cpp: which programs run around each task, as the user.
#include "stepd/setup/setup.hpp"

namespace switchyard::stepd::setup {
namespace {

std::vector<std::string> those_named(std::vector<std::string> programs) {
    std::erase(programs, "");
    return programs;
}

}  // namespace

std::vector<std::string> prologs(const Launch& launch) {
    return those_named({launch.task_prolog, launch.command.task_prolog});
}

std::vector<std::string> epilogs(const Launch& launch) {
    return those_named({launch.command.task_epilog, launch.task_epilog});
}

}  // namespace switchyard::stepd::setup
