// commands_main.cpp: the commands that ask the controller, as a program that needs no loader.
// Whatever else it is asked to be, switchyard beside it is.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "programs.hpp"

int main(int argc, char** argv) {
    using namespace switchyard;
    if (argc < 1) return 1;
    if (const Program* program = find_program(kAskingPrograms, called_name(argv[0]))) {
        return program->main(argc, argv);
    }
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    const std::string whole = self.substr(0, self.rfind('/') + 1) + "switchyard";
    ::execv(whole.c_str(), argv);
    const std::string line =
        fmt::format("{}: cannot start {}: {}\n", argv[0], whole, std::strerror(errno));
    std::fputs(line.c_str(), stderr);
    return 1;
}
